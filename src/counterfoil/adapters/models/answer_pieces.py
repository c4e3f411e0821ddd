"""An answer that comes in pieces, put together as they come.

Servers differ: the name of a call comes once or in every piece, its arguments in
fragments, whole, or as an object; ids and indexes may be missing, or the same for every
call. A piece begins a new call when it has another id, or a name after a call whose
arguments are whole.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from counterfoil.adapters.models.chat_requests import well_formed
from counterfoil.core.canonical import LARGEST
from counterfoil.core.events import Usage
from counterfoil.core.messages import AskedCall, Delta, ModelAnswer
from counterfoil.wire.json_values import is_list, is_object

NO_NAME = "the call names no tool"


@dataclass(slots=True)
class _CallPieces:
    """A call of which some pieces are there."""

    id: str = ""
    tool: str = ""
    arguments: list[str] = field(default_factory=list[str])

    def is_ended_by(self, id_: str, tool: str) -> bool:
        """Say whether a piece with this id and tool belongs to another call."""
        if id_ and self.id:
            return id_ != self.id
        return bool(tool and self.tool) and (tool != self.tool or self._is_whole())

    def add(self, id_: str, function: Mapping[str, Any]) -> None:
        """Take what a piece brings."""
        self.id = self.id or id_
        self.tool = self.tool or _text(function.get("name"))
        arguments = function.get("arguments")
        if is_object(arguments):
            arguments = json.dumps(arguments, ensure_ascii=False)
        self.arguments.append(_text(arguments))

    def _is_whole(self) -> bool:
        if not (self.arguments and self.arguments[-1].rstrip().endswith("}")):
            return False
        try:
            json.loads("".join(self.arguments))
        except (ValueError, RecursionError):
            return False
        return True


class AnswerPieces:
    """The pieces of one answer; `names` are tools by the name under which they were sent.

    Every call gets an id of its own: the server's where it gave one that none of `taken`
    and no call of the same answer has, else one of `new_id`.
    """

    def __init__(
        self, names: Mapping[str, str], new_id: Callable[[], str], taken: frozenset[str]
    ) -> None:
        self._names = names
        self._new_id = new_id
        self._taken = set(taken)
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_CallPieces] = []
        self._by_index: dict[int, _CallPieces] = {}
        self._usage: Usage | None = None
        self.finish = ""
        """Why the answer ended, once the server has said that it did."""

    def take(self, chunk: Mapping[str, Any]) -> Delta | None:
        """Take a chunk of the stream and return what can be heard of it."""
        self._usage = _usage(chunk.get("usage")) or self._usage
        choices = chunk.get("choices")
        choice = choices[0] if is_list(choices) and choices else None
        if not is_object(choice):
            return None
        self.finish = _text(choice.get("finish_reason")) or self.finish
        piece = choice.get("delta") or choice.get("message")
        return self._heard(piece) if is_object(piece) else None

    def answer(self) -> ModelAnswer:
        """Return the answer as far as it came."""
        return ModelAnswer(
            text=well_formed("".join(self._text)),
            calls=tuple(self._call(call) for call in self._calls),
            reasoning=well_formed("".join(self._reasoning)) or None,
            usage=self._usage,
        )

    def _heard(self, piece: Mapping[str, Any]) -> Delta | None:
        text = _text(piece.get("content"))
        reasoning = _text(piece.get("reasoning_content")) or _text(piece.get("reasoning"))
        self._text.append(text)
        self._reasoning.append(reasoning)
        calls = piece.get("tool_calls")
        for call in calls if is_list(calls) else ():
            if is_object(call):
                self._take_call(call)
        if not text and not reasoning:
            return None
        return Delta(text=well_formed(text), reasoning=well_formed(reasoning))

    def _take_call(self, piece: Mapping[str, Any]) -> None:
        function = piece.get("function")
        function = function if is_object(function) else {}
        id_, index = _text(piece.get("id")), piece.get("index")
        known = self._calls[-1] if self._calls else None
        if isinstance(index, int):
            known = self._by_index.get(index)
        if known is None or known.is_ended_by(id_, _text(function.get("name"))):
            known = _CallPieces()
            self._calls.append(known)
            if isinstance(index, int):
                self._by_index[index] = known
        known.add(id_, function)

    def _call(self, pieces: _CallPieces) -> AskedCall:
        id_ = pieces.id if pieces.id and pieces.id not in self._taken else self._new_id()
        self._taken.add(id_)
        return AskedCall(
            id=id_,
            tool=self._names.get(pieces.tool, pieces.tool),
            arguments=well_formed("".join(pieces.arguments)),
            fault=None if pieces.tool else NO_NAME,
        )


def _usage(value: object) -> Usage | None:
    if not is_object(value):
        return None
    return Usage(
        input=_count(value, "prompt_tokens"),
        output=_count(value, "completion_tokens"),
        cached=_count(value.get("prompt_tokens_details"), "cached_tokens"),
        reasoning=_count(value.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _count(value: object, name: str) -> int | None:
    found = value.get(name) if is_object(value) else None
    is_count = isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= LARGEST
    return found if is_count else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
