"""Ids: what is refused where it is made, with a text that says what was expected."""

import pytest

from counterfoil.core.errors import InvalidIdError
from counterfoil.core.ids import EntryNumber, EventId, ThreadId, is_instant


@pytest.mark.parametrize("text", ["a", "A.b_c-9", "...", "x" * 63, "x" * 64])
def test_a_thread_id_is_its_text(text: str) -> None:
    """ids: 1 to 64 of the allowed characters are an id."""
    assert ThreadId(text) == text


@pytest.mark.parametrize("text", ["", ".", "..", "x" * 65, "a b", "a/b", "é", "a\n", "\ud800"])
def test_a_bad_thread_id_is_refused(text: str) -> None:
    """ids: Everything else is refused, with what was found."""
    with pytest.raises(InvalidIdError) as refused:
        ThreadId(text)
    assert repr(text) in refused.value.found
    assert "64" in refused.value.expected


@pytest.mark.parametrize("text", ["0" * 16, "0123456789abcdef"])
def test_an_event_id_is_its_text(text: str) -> None:
    """ids: 16 hexadecimal digits in lower case are an id."""
    assert EventId(text) == text


@pytest.mark.parametrize("text", ["", "0" * 15, "0" * 17, "A" * 16, "g" * 16, "0" * 16 + "\n"])
def test_a_bad_event_id_is_refused(text: str) -> None:
    """ids: One digit more, one fewer, and capitals are refused."""
    with pytest.raises(InvalidIdError, match="16 hexadecimal digits"):
        EventId(text)


def test_event_ids_are_made_of_numbers() -> None:
    """ids: A source without ids numbers its events."""
    assert EventId.from_number(255) == EventId("00000000000000ff")


@pytest.mark.parametrize("number", [1, 2, 10**30])
def test_an_entry_number_is_a_number(number: int) -> None:
    """ids: Numbers from 1 are those of entries, however large."""
    assert EntryNumber(number) == number


@pytest.mark.parametrize("number", [0, -1, True])
def test_a_bad_entry_number_is_refused(number: int) -> None:
    """ids: 0 is no entry, and a boolean is no number."""
    with pytest.raises(InvalidIdError, match="from 1"):
        EntryNumber(number)


@pytest.mark.parametrize(
    ("day", "exists"),
    [
        ("2026-03-01", True),
        ("2024-02-29", True),
        ("2000-02-29", True),
        ("2026-02-28", True),
        ("2026-12-31", True),
        ("2026-02-29", False),
        ("1900-02-29", False),
        ("2024-02-30", False),
        ("2026-04-31", False),
        ("2026-00-01", False),
        ("2026-13-01", False),
        ("2026-01-00", False),
        ("2026-01-32", False),
        ("0000-01-01", False),
    ],
)
def test_an_instant_is_of_a_day_that_exists(day: str, exists: bool) -> None:  # noqa: FBT001 - a case
    """ids: Days that no calendar has are no instants."""
    assert is_instant(f"{day}T09:00:00.000Z") is exists


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-03-01T24:00:00.000Z",
        "2026-03-01T09:60:00.000Z",
        "2026-03-01T09:00:60.000Z",
        "2026-03-01T09:00:00Z",
        "2026-03-01T09:00:00.000+00:00",
        "2026-03-01T09:00:00.000Z\n",
        "٢٠٢٦-03-01T09:00:00.000Z",
        "2026-03-01t09:00:00.000z",
    ],
)
def test_an_instant_has_one_form(text: str) -> None:
    """ids: Milliseconds, `T`, `Z`, ASCII digits, and nothing behind them."""
    assert not is_instant(text)
