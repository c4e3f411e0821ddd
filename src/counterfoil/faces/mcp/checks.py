"""The tools beside `respond`: checks of transcripts, receipts and pages."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from io import BytesIO
from typing import BinaryIO

from mcp import types

from counterfoil.core.errors import CounterfoilError, InvalidIdError, NotFoundError
from counterfoil.core.ids import RunId, ThreadId
from counterfoil.engine.thread_views import ThreadViews
from counterfoil.faces.mcp.fitting import fit
from counterfoil.faces.mcp.places import folder_below, opened_below
from counterfoil.faces.mcp.results import answered, failed, invalid
from counterfoil.faces.mcp.services import McpServices, PageStores
from counterfoil.wire.json_values import is_list, is_object
from counterfoil.wire.receipt import receipt_to_json

Arguments = Mapping[str, object]

_COMPARED = "the receipt given, and the one folded out of the ledger, as JSON with sorted keys"


class Checks:
    """Carries out the tools that need no model; each of them may block."""

    def __init__(self, services: McpServices) -> None:
        self._services = services
        self._tools: Mapping[str, Callable[[Arguments], object]] = {
            "check": self._check,
            "verify": self._verify,
            "kb_lint": self._lint,
            "kb_resolve": self._resolve,
        }

    def call(self, tool: str, arguments: Arguments) -> types.CallToolResult:
        """Return the result of a call; what cannot be done is a result too.

        Raises:
            MCPError: The arguments are not valid.
        """
        try:
            return answered(self._tools[tool](arguments))
        except CounterfoilError as error:
            return failed(error.diagnosis())

    def _check(self, arguments: Arguments) -> object:
        path, text = arguments.get("path"), arguments.get("text")
        if (path is None) == (text is None):
            raise invalid("check takes either argument 'path' or argument 'text'")
        name = "-" if path is None else str(path)
        with self._transcript(name, text) as file:
            return _document(self._services.check(name, file))

    def _transcript(self, name: str, text: object) -> AbstractContextManager[BinaryIO]:
        if text is not None:
            return nullcontext(BytesIO(str(text).encode()))
        return opened_below(self._services.roots, name)

    def _verify(self, arguments: Arguments) -> object:
        given = arguments["receipt"]
        thread, turn = _of_receipt(given)
        recorded = _recorded(self._services.agent.views, thread, turn)
        found: dict[str, object] = {"thread": str(thread), "turn": turn, "difference": None}
        if isinstance(recorded, str):
            verdict = recorded
        elif _bytes(given) == _bytes(recorded):
            verdict = "matches"
        else:
            verdict = "differs"
            key, ours, theirs = next(_differences(given, recorded, ""))
            found["difference"] = {"key": key, "given": ours, "recorded": theirs}
        return {"verdict": verdict, **found, "compared": _COMPARED}

    def _lint(self, arguments: Arguments) -> object:
        return _document(self._services.lint(self._stores(arguments)))

    def _resolve(self, arguments: Arguments) -> object:
        handles = arguments["handles"]
        if not is_list(handles) or not handles:
            raise invalid("argument 'handles' is an empty list")
        return _document(self._services.resolve([*map(str, handles)], self._stores(arguments)))

    def _stores(self, arguments: Arguments) -> PageStores:
        run, root = arguments.get("run"), arguments.get("root")
        if run is not None and root is not None:
            raise invalid("a store is named by argument 'run' or by argument 'root', not by both")
        try:
            return PageStores(
                run=None if run is None else RunId(str(run)),
                root=None if root is None else folder_below(self._services.roots, str(root)),
            )
        except InvalidIdError as error:
            raise invalid(f"argument 'run': {error.diagnosis()}") from error


def _document(content: bytes) -> object:
    value: object = json.loads(content)
    return value


def _of_receipt(receipt: object) -> tuple[ThreadId, int]:
    value = receipt if is_object(receipt) else {}
    thread, turn = value.get("thread"), value.get("turn")
    if not isinstance(turn, int) or isinstance(turn, bool) or turn < 1:
        raise invalid("argument 'receipt': its turn is no whole number from 1")
    try:
        return ThreadId(thread if isinstance(thread, str) else ""), turn
    except InvalidIdError as error:
        raise invalid(f"argument 'receipt': {error.diagnosis()}") from error


def _recorded(views: ThreadViews, thread: ThreadId, turn: int) -> dict[str, object] | str:
    """Return the receipt as the ledger has it, or the verdict that there is none."""
    try:
        last = views.last_turn(thread)
    except NotFoundError:
        return "unknown_thread"
    if turn > last:
        return "unknown_turn"
    receipt: dict[str, object] = fit(receipt_to_json(views.receipt(thread, turn)))
    return receipt


def _bytes(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _differences(given: object, recorded: object, key: str) -> Iterator[tuple[str, object, object]]:
    """Yield where two values differ, in the order of the recorded one."""
    if is_object(given) and is_object(recorded):
        for name in (*recorded, *(name for name in given if name not in recorded)):
            below = f"{key}.{name}" if key else name
            if name in given and name in recorded:
                yield from _differences(given[name], recorded[name], below)
            else:
                yield below, given.get(name), recorded.get(name)
    elif is_list(given) and is_list(recorded) and len(given) == len(recorded):
        for place, (ours, theirs) in enumerate(zip(given, recorded, strict=True)):
            yield from _differences(ours, theirs, f"{key}[{place}]")
    elif _bytes(given) != _bytes(recorded):
        yield key, given, recorded
