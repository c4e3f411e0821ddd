"""The bound of the `ran:` line, and the words of tools in a reply."""

import pytest

from counterfoil.core.events import Event, ToolCalled
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.core.ran import ran_line


def _calls(count: int) -> list[Event]:
    return [
        Event(
            seq=number,
            id=EventId.from_number(number),
            occurred_at="2026-03-01T09:00:00.000Z",
            thread=ThreadId("t1"),
            turn=1,
            payload=ToolCalled(tool=f"tool{number}", arguments="{}"),
        )
        for number in range(1, count + 1)
    ]


@pytest.mark.parametrize(("count", "more"), [(5, ""), (6, ""), (7, " · +1 more")])
def test_six_tools_are_named_and_the_rest_counted(count: int, more: str) -> None:
    """ran: One under, at it, one over."""
    line = ran_line(_calls(count), "t1", 1, reply=None, tools=())
    shown = " · ".join(f"tool{number} (1 unknown)" for number in range(1, min(count, 6) + 1))
    assert line == f"ran: {shown}{more}"


@pytest.mark.parametrize(
    ("reply", "is_named"),
    [
        ("I ran bash.", True),
        ("bash", True),
        ("rebash, then bash", True),
        ("rebash", False),
        ("bash_2", False),
        ("bashé", False),
        ("Bash", False),
        ("", False),
        (None, False),
    ],
)
def test_a_turn_without_calls_names_no_tool(reply: str | None, is_named: bool) -> None:  # noqa: FBT001
    """ran: Only a whole word that is a tool of the thread makes a line without calls."""
    line = ran_line([], "t1", 1, reply=reply, tools=["", "bash"])
    assert line == ("ran: no tools" if is_named else None)
