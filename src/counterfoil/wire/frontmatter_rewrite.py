r"""Sets, adds or removes one field of a page, and leaves every other byte as it is.

Comments, order, quoting, line ends, a BOM, bytes that are not UTF-8: all stay. The new
value is spliced in where the old one stands, and what came of it is read back: where any
other field, or the body, would read otherwise, nothing is changed and an error says so
(knowledge.md section 1).

>>> rewrite_field(b"---\nid: a # mine\nnote: x\n---\nBody.\n", "id", "b")
b'---\nid: b # mine\nnote: x\n---\nBody.\n'
"""

import json
import re
from collections.abc import Mapping, Sequence

from counterfoil.core.errors import UnreadableError
from counterfoil.wire.frontmatter import Frontmatter
from counterfoil.wire.yaml_tree import Node, core_value

FieldValue = str | Sequence[str] | Mapping[str, object]

_BOM = "\ufeff"


def rewrite_field(data: bytes, field: str, value: FieldValue | None) -> bytes:
    """Return `data` with `field` set to `value`, or without it where that is `None`.

    Raises:
        UnreadableError: The frontmatter cannot be read, or `field` cannot be changed alone.
    """
    whole = data.decode("utf-8", "surrogateescape")
    text = whole.removeprefix(_BOM)
    front = Frontmatter(text)
    if front.faults:
        raise UnreadableError(front.faults[0].message, advice="mend it by hand first")
    written = _rewritten(text, front, field, value)
    _check(text, written, field, value)
    return whole[: len(whole) - len(text)].encode() + written.encode("utf-8", "surrogateescape")


def _rewritten(text: str, front: Frontmatter, field: str, value: FieldValue | None) -> str:
    block = front.block
    newline = "\r\n" if "\r\n" in (front.lines or text[:_HEAD]) else "\n"
    if block is None:
        entry = "" if value is None else f"{_inline(field)}: {_inline(value)}"
        return f"---{newline}{entry}{newline}---{newline}{text}" if entry else text
    lines = _Lines(front, newline).with_field(field, value)
    return f"{text[: block.start]}{lines}{text[block.end :]}"


_HEAD = 1_000  # characters of a page without frontmatter that show how its lines end


class _Lines:
    """The lines of a block and the nodes that stand in them."""

    def __init__(self, front: Frontmatter, newline: str) -> None:
        self._text = front.lines
        self._root = front.root()
        self._pairs = front.pairs()
        self._newline = newline

    def with_field(self, field: str, value: FieldValue | None) -> str:
        """Return the lines with `field` set, added or removed."""
        pair = self._pairs.get(field)
        if pair is None:
            return self._text if value is None else self._with_added(field, value)
        if value is None:
            return self._without(field, *pair)
        return self._with_value(*pair, value)

    def _with_added(self, field: str, value: FieldValue) -> str:
        entry = f"{_inline(field)}: {_inline(value)}"
        root = self._root
        if root is None or not root.is_flow:
            indent = " " * (root.column if root else 0)
            return f"{self._text}{indent}{entry}{self._newline}"
        at = root.end - 1
        last = root.items[-1].end if root.items else root.start + 1
        comma = ", " if root.items and "," not in self._text[last:at] else ""
        return self._spliced(at, at, comma + entry)

    def _without(self, field: str, key: Node, value: Node) -> str:
        if self._root is not None and self._root.is_flow:
            return self._without_item(field, key, value)
        start = self._text.rfind("\n", 0, key.start) + 1
        end = self._text.find("\n", self._end(key, value)) + 1
        return self._spliced(start, end, "")

    def _without_item(self, field: str, key: Node, value: Node) -> str:
        names = list(self._pairs)
        place = names.index(field)
        if place + 1 < len(names):
            return self._spliced(key.start, self._pairs[names[place + 1]][0].start, "")
        start = self._end(*self._pairs[names[place - 1]]) if place else key.start
        return self._spliced(start, self._end(key, value), "")

    def _with_value(self, key: Node, value: Node, new: FieldValue) -> str:
        colon = _COLON.match(self._text, key.end)
        behind = colon.end() if colon else key.end
        if value.start <= behind:  # there is no value yet
            return self._spliced(behind, behind, f"{'' if colon else ':'} {_inline(new)}")
        end = self._end(key, value)
        if not _is_block(value):
            return self._spliced(value.start, end, _inline(new))
        if value.kind == "list" and _is_list(new) and new:
            joint = f"{self._newline}{' ' * value.column}- "
            return self._spliced(value.start, end, "- " + joint.join([_inline(it) for it in new]))
        broken = self._text[: value.start].rstrip(" \t").removesuffix("\n").removesuffix("\r")
        return f"{self._text[:behind]} {_inline(new)}{broken[behind:]}{self._text[end:]}"

    def _end(self, key: Node, value: Node) -> int:
        """Return where the value ends, without the line breaks that a block scalar holds."""
        return max(key.end, value.start + len(self._text[value.start : value.end].rstrip()))

    def _spliced(self, start: int, end: int, new: str) -> str:
        return f"{self._text[:start]}{new}{self._text[end:]}"


def _is_block(value: Node) -> bool:
    return value.alias_of is None and value.kind != "scalar" and not value.is_flow


def _is_list(value: FieldValue) -> bool:
    return not isinstance(value, str | Mapping)


_COLON = re.compile(r"[ \t]*+:")
_PLAIN = re.compile(r"[^\W\d_][\w./-]*+(?::+[\w./-]++)*+(?: [\w./-]++)*+\Z")
_OTHERWISE = frozenset({"y", "n", "yes", "no", "on", "off"})
_UNFIT = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def _inline(value: FieldValue) -> str:
    """Return `value` on one line: plain where every reader of YAML takes it for the same."""
    if isinstance(value, str):
        return value if _is_safe(value) else _json(value)
    if isinstance(value, Mapping):
        return _json(dict(value))
    return f"[{', '.join([_inline(item) for item in value])}]"


def _is_safe(text: str) -> bool:
    if not _PLAIN.match(text) or text.lower() in _OTHERWISE:
        return False
    return core_value(text) is text


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _UNFIT.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _check(text: str, written: str, field: str, value: FieldValue | None) -> None:
    """Raise where `written` says anything else than `text` but for `field`."""
    before, after = Frontmatter(text), Frontmatter(written)
    expected = dict(before.values)
    expected.pop(field, None)
    found = dict(after.values)
    new = found.pop(field, None)
    is_same = repr(found) == repr(expected) and _body(before, text) == _body(after, written)
    wanted = list(value) if value is not None and _is_list(value) else value
    if after.faults or not is_same or new != wanted:
        raise UnreadableError(
            f"field {field!r} cannot be changed alone",
            "a field that no other one leans on, and a value that YAML can write",
            "change it by hand",
        )


def _body(front: Frontmatter, text: str) -> str:
    return text if front.block is None else text[front.block.body_start :]
