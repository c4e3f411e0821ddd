"""The tool `system_info`: what the machine says of itself, 15 rows at most.

It only reads, through psutil and without a shell. Command lines of processes are shown
without what looks like a secret.
"""

from collections.abc import Callable, Mapping

from counterfoil.adapters.tools.answers import (
    Patience,
    UnusableArgumentError,
    answered,
    choice_in,
    number_in,
    parameters,
    shown_name,
    text_in,
)
from counterfoil.adapters.tools.roots import Roots
from counterfoil.core.errors import UnavailableError
from counterfoil.core.messages import ToolSpec
from counterfoil.core.paging import cut_line
from counterfoil.ports.tools import CallContext, ToolAnswer

ROWS = 15
"""Rows of an answer; how many are left out is told exactly."""

_ROW = 240
_SECONDS = 20.0
_LARGEST_PORT = 65535

_NARROWED_BY: Mapping[str, frozenset[str]] = {
    "ports": frozenset({"port", "name"}),
    "free_space": frozenset({"path"}),
    "folder_sizes": frozenset({"path", "name"}),
    "processes": frozenset({"name"}),
    "memory": frozenset(),
    "system": frozenset(),
    "network": frozenset({"name"}),
}


class SystemInfoTool:
    """The `Tool` that reads what the machine says of itself."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self.spec = ToolSpec(
            name="system_info",
            description=(
                "Reads facts about this machine: ports in use, free space, sizes of folders,"
                " processes, memory, system, network."
            ),
            parameters=parameters(
                {
                    "topic": {"type": "string", "enum": list(_NARROWED_BY)},
                    "path": {"type": "string", "description": "for free_space, folder_sizes"},
                    "port": {"type": "integer", "description": "for ports: this one alone"},
                    "name": {
                        "type": "string",
                        "description": "part of a name, not for free_space, memory, system",
                    },
                },
                "topic",
            ),
            only_reads=True,
        )

    def run(self, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Return what the machine says of `arguments["topic"]`."""
        return answered(lambda: self._answer(arguments, context.is_cancelled))

    def _answer(
        self, arguments: Mapping[str, object], is_cancelled: Callable[[], bool]
    ) -> ToolAnswer:
        topic = choice_in(arguments, "topic", tuple(_NARROWED_BY))
        _require_narrowing(topic, arguments)
        try:
            from counterfoil.adapters.tools import machine  # noqa: PLC0415 - psutil is an extra
        except ImportError as error:
            raise UnavailableError(
                "system_info needs the package psutil", advice="pip install 'counterfoil[agent]'"
            ) from error
        asked = machine.Question(
            roots=self._roots,
            patience=Patience(is_cancelled, _SECONDS),
            path=text_in(arguments, "path"),
            port=number_in(arguments, "port", 0, _LARGEST_PORT) if arguments.get("port") else 0,
            name=text_in(arguments, "name"),
        )
        return _told(machine.TOPICS[topic](asked))


def _require_narrowing(topic: str, arguments: Mapping[str, object]) -> None:
    for name in ("path", "port", "name"):
        if arguments.get(name) and name not in _NARROWED_BY[topic]:
            topics = [other for other, names in _NARROWED_BY.items() if name in names]
            raise UnusableArgumentError(
                f"{name} with topic {topic}", f"{name} with {' or '.join(topics)} alone"
            )


def _told(found: "Told") -> ToolAnswer:
    heading, rows, narrow = found
    shown = [cut_line(shown_name(row), _ROW) for row in (heading, *rows[:ROWS])]
    left_out = len(rows) - ROWS
    if left_out > 0:
        shown.append(f"[more: {left_out:,} of {len(rows):,} rows are left out; narrow {narrow}]")
    return ToolAnswer(output="\n".join(shown), truncated=True if left_out > 0 else None)


Told = tuple[str, list[str], str]
"""A heading, rows, and what narrows them."""
