"""A call that a small model wrote as text, where its interface for calls was to be used.

What is taken for a call stands at the end of the reply, in one of these forms:

```text
<tool_call>{"name": "read_file", "arguments": {"path": "a.md"}}</tool_call>
<function=read_file>{"path": "a.md"}</function>
[TOOL_CALLS][{"name": "read_file", "arguments": {"path": "a.md"}}]
[TOOL_CALLS]read_file{"path": "a.md"}
{"name": "read_file", "parameters": {"path": "a.md"}}
```

The marked forms begin on a line of their own; their tool is on offer, unless the reply is
nothing but calls. Bare JSON is a call only where it is the whole reply, fenced or not, and
names a tool on offer. Prose that shows what a call looks like is no call: more text follows
it, or it stands in a fence, in a line, in quotes. Each part of the text is looked at once.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from counterfoil.core.messages import AskedCall
from counterfoil.wire.json_values import is_object

FAULT = "the call was written as text"
"""Why such a call cannot be carried out as it is."""

BROKEN = f"{FAULT}, and its JSON is broken"

_MARK = re.compile(
    r"^[ \t]*(?:(?P<list>\[TOOL_CALLS\])"
    r"|(?:<tool_call>[ \t\r\n]{0,9})?<function=(?P<tool>[^<>\s]{1,128})>"
    r"|<tool_call>|<\|python_tag\|>)",
    re.MULTILINE,
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_FENCED = re.compile(r"```[ \t]*\w{0,16}[ \t]*\r?\n")
_NAMED = re.compile(r"(?P<tool>[\w.-]{1,128})[ \t]*(?:\[ARGS\])?[ \t]*(?=\{)")
_BROKEN_NAME = re.compile(r'"name"\s{0,9}:\s{0,9}"(?P<tool>[^"\\\s]{1,128})"')
_SPACE = re.compile(r"[ \t\r\n]*")
_BETWEEN = re.compile(r"[ \t\r\n;,]*")
_LAST_WORDS = ("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "</s>")
_MOST_LAST_WORDS = 4
_DECODER = json.JSONDecoder()


class _Written(NamedTuple):
    """A call as it was found: the tool, and the exact text of its arguments."""

    tool: str
    arguments: str
    fault: str = FAULT


class _Member(NamedTuple):
    """The value of a member of an object, and its exact text."""

    value: object
    text: str


_NOTHING = _Member(None, "")
_KEYS = frozenset({"name", "arguments", "parameters", "type", "id"})


@dataclass(frozen=True, slots=True)
class WrittenCalls:
    """The text of a reply without the calls at its end, and those calls."""

    text: str
    calls: tuple[AskedCall, ...] = ()


def read_written_calls(
    text: str, tools: Collection[str], new_id: Callable[[], str]
) -> WrittenCalls:
    """Return what calls of `tools` the reply `text` ends in; mostly there is none."""
    content = _content(text)
    start, found = 0, _bare(content, tools)
    if not found:
        start, found = _marked(content, tools)
    calls = (
        AskedCall(id=new_id(), tool=call.tool, arguments=call.arguments, fault=call.fault)
        for call in found
    )
    return WrittenCalls(text[:start], tuple(calls)) if found else WrittenCalls(text)


def _content(text: str) -> str:
    """Return `text` without white space and marks of a template at its end."""
    for _ in range(_MOST_LAST_WORDS):
        text = text.rstrip()
        mark = next((word for word in _LAST_WORDS if text.endswith(word)), "")
        text = text.removesuffix(mark)
    return text.rstrip()


def _bare(content: str, tools: Collection[str]) -> list[_Written]:
    """Return the calls that `content` is, from its first to its last character."""
    content = content.strip()
    opened = _FENCED.match(content)
    if opened and content.endswith("```"):
        content = content[opened.end() : -3].rstrip()
    found = _calls(content)
    return found if all(call.tool in tools for call in found) else []


def _marked(content: str, tools: Collection[str]) -> tuple[int, list[_Written]]:
    """Return where the marked calls at the end of `content` start, and the calls."""
    start, blocks = len(content), list[list[_Written]]()
    for mark in reversed([*_MARK.finditer(content)]):
        calls = _block(mark, content[mark.end() : start].strip())
        if not calls:
            break
        start = mark.start()
        blocks.append(calls)
    found = [call for calls in reversed(blocks) for call in calls]
    before = content[:start]
    is_meant = not before.strip() or all(call.tool in tools for call in found)
    is_fenced = sum(1 for _ in _FENCE.finditer(before)) % 2
    return start, found if is_meant and not is_fenced else []


def _block(mark: re.Match[str], inner: str) -> list[_Written]:
    """Return the calls that a mark and all that follows it are, if they are calls."""
    closed = inner.removesuffix("</tool_call>").rstrip()
    if mark["tool"]:
        return _function(mark["tool"], closed)
    if mark["list"] and (named := _NAMED.match(inner)):
        return _named(named["tool"], inner[named.end() :])
    found = _calls(closed)
    if found or closed == inner:
        return found
    name = _BROKEN_NAME.search(closed) if closed.startswith("{") else None
    return [_Written(name["tool"], closed, BROKEN)] if name else []


def _function(tool: str, inner: str) -> list[_Written]:
    arguments = inner.removesuffix("</function>")
    if arguments == inner:
        return _named(tool, inner)
    return [] if "</function>" in arguments else [_Written(tool, arguments.strip())]


def _named(tool: str, arguments: str) -> list[_Written]:
    """Return a call of `tool` where `arguments` is one object of JSON and nothing more."""
    try:
        _, end = _members(arguments, 0)
    except (ValueError, RecursionError):
        return []
    return [_Written(tool, arguments)] if end == len(arguments) else []


def _calls(text: str) -> list[_Written]:
    """Return the calls that `text` lists; none if anything in it is something else."""
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1].strip()
    found, at = list[_Written](), 0
    try:
        while at < len(text):
            members, at = _members(text, at)
            found.append(_call(members))
            at = _past(_BETWEEN, text, at)
    except (ValueError, RecursionError):
        return []
    return found


def _call(members: Mapping[str, _Member]) -> _Written:
    """Return the call that an object of JSON stands for.

    Raises:
        ValueError: It stands for something else: a record with a name, the tool itself.
    """
    given = [members[key] for key in ("arguments", "parameters") if key in members]
    name = members.get("name", _NOTHING).value
    if len(given) != 1 or not isinstance(name, str) or not members.keys() <= _KEYS:
        raise ValueError(name)
    if isinstance(given[0].value, str):
        return _Written(name, given[0].value)
    if not is_object(given[0].value) or "properties" in given[0].value:
        raise ValueError(name)
    return _Written(name, given[0].text)


def _members(text: str, at: int) -> tuple[dict[str, _Member], int]:
    """Return the members of the object of JSON at `at`, and where it ends.

    Raises:
        ValueError: There is none.
    """
    members: dict[str, _Member] = {}
    at = _past(_SPACE, text, _expected("{", text, at))
    while not text.startswith("}", at) or members:
        key, at = _DECODER.raw_decode(text, at)
        start = _past(_SPACE, text, _expected(":", text, _past(_SPACE, text, at)))
        value, at = _DECODER.raw_decode(text, start)
        if not isinstance(key, str) or key in members:
            raise ValueError(key)
        members[key] = _Member(value, text[start:at])
        at = _past(_SPACE, text, at)
        if text.startswith("}", at):
            break
        at = _past(_SPACE, text, _expected(",", text, at))
    return members, at + 1


def _expected(mark: str, text: str, at: int) -> int:
    if not text.startswith(mark, at):
        raise ValueError(mark)
    return at + len(mark)


def _past(what: re.Pattern[str], text: str, at: int) -> int:
    match = what.match(text, at)
    return match.end() if match else at
