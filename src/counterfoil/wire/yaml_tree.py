"""A tree of YAML with its places, and what its scalars say by the core schema of YAML 1.2.

`no`, dates, `1_000` and `0b1` are text, `007` is 7, `1e3` is a number. A key is the text
that it is written by, so that a mapping is one of JSON (knowledge.md section 1).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Kind = Literal["scalar", "list", "mapping"]

LONGEST_NUMBER = 3_500
"""Characters of a whole number; a longer one stays text, for Python writes none."""


class YamlFault(NamedTuple):
    """Why a text is not read: line and column count from 0."""

    line: int
    column: int
    message: str


@dataclass(slots=True, eq=False)
class Node:
    """A node and where it stands: offsets in the text, line and column from 0.

    `text` is that of a scalar, or the source of a list or mapping that is a key; a scalar
    is `is_plain` where it has neither quotes nor an indicator. `items` are those of a list,
    or keys and values of a mapping in turn. An alias is a node of its own place whose
    `alias_of` is what it means.
    """

    kind: Kind
    start: int
    end: int
    line: int
    column: int
    text: str = ""
    tag: str | None = None
    is_plain: bool = False
    is_flow: bool = False
    items: list["Node"] = field(default_factory=list)
    alias_of: "Node | None" = None
    size: int = 1
    depth: int = 0

    @property
    def meant(self) -> "Node":
        """The node itself, or what it is an alias of."""
        return self.alias_of or self

    def pairs(self) -> Iterator[tuple["Node", "Node"]]:
        """Yield the keys and values of a mapping, in order."""
        return zip(self.items[::2], self.items[1::2], strict=True)


def value_of(node: Node) -> object:
    """Return what `node` says: text, number, boolean, none, list or mapping of these."""
    node = node.meant
    if node.kind == "scalar":
        return scalar_value(node)
    if node.kind == "list":
        return [value_of(item) for item in node.items]
    return {key.meant.text: value_of(value) for key, value in node.pairs()}


def scalar_value(node: Node) -> object:
    """Return the value of a scalar by the core schema."""
    if node.tag is None:
        return core_value(node.text) if node.is_plain else node.text
    if node.tag == "str":
        return node.text
    value = core_value(node.text)
    return float(value) if node.tag == "float" and isinstance(value, int) else value


def core_value(text: str) -> object:
    """Return what plain `text` is in the core schema of YAML 1.2.

    >>> [core_value(text) for text in ("007", "0o10", "1e3", "1_000", "no", "~")]
    [7, 8, 1000.0, '1_000', 'no', None]
    """
    if text in _WORDS:
        return _WORDS[text]
    if _DECIMAL.match(text):
        return int(text) if len(text) <= LONGEST_NUMBER else text
    if _RADIX.match(text):
        return int(text, 0) if len(text) <= LONGEST_NUMBER else text
    if _FLOAT.match(text):
        return float(text)
    return float(text.replace(".", "")) if _ENDLESS.match(text) else text


_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_DECIMAL = re.compile(r"[-+]?[0-9]+\Z")
_RADIX = re.compile(r"(?:0o[0-7]+|0x[0-9a-fA-F]+)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]++(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_ENDLESS = re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")
