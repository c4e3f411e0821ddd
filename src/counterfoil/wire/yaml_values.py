"""The values of a block of YAML: read fast where that is certain, else with care.

The fast reader (yaml-rs) is one of YAML 1.2 and knows duplicate keys, but it drops tags,
takes `1_000` and `0b1` for numbers, a tab before the first key for a space, and lets
lists in lists in lists end the process. So it is asked only about blocks without any of
that, and believed only where it says texts, booleans, nulls, flat lists and mappings of
them, and whole numbers that stand there as they are mostly written. Every other block is
for `yaml_nodes`, which is ten times slower; one that the fast reader refuses as well, for
it refuses some that are right. The tests hold the two against each other.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import cast

from yaml_rs import AliasLimits, DuplicateKeyPolicy, loads

from counterfoil.wire.yaml_tree import Node, YamlFault, value_of


def read_yaml(lines: str) -> Mapping[str, object] | YamlFault:
    """Return the mapping that `lines` are, an empty one for nothing, or why they are none."""
    is_odd = False
    if _needs_care(lines):
        outside = _outside(lines)
        if outside is not None:
            return outside
        is_odd = _is_odd(lines)
    found = None if is_odd else _read_fast(lines)
    if type(found) is dict:
        return found
    read = read_tree(lines)
    if isinstance(read, YamlFault):
        return found if isinstance(found, YamlFault) else read
    return {} if read is None else _mapping(read)


def read_tree(lines: str) -> Node | YamlFault | None:
    """Return the tree of `lines`; the parser behind it is loaded when the first is asked for."""
    from counterfoil.wire.yaml_nodes import read_nodes  # noqa: PLC0415 - most pages need none

    return read_nodes(lines)


def _mapping(root: Node) -> Mapping[str, object] | YamlFault:
    if root.kind == "mapping":
        return cast("dict[str, object]", value_of(root))
    what = "a list" if root.kind == "list" else "a text"
    return YamlFault(root.line, root.column, f"{what}, where fields and values are expected")


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_DOCUMENT = re.compile(r"^(?:---|\.\.\.)[ \t]", re.MULTILINE)
_ODD_BYTES = bytes(code for code in range(0x20) if code not in b"\r\n") + b"!*"
_SHORT = 512
"""Bytes that are too few for lists in lists to use up the stack of a thread."""


def _needs_care(lines: str) -> bool:
    """Say whether anything in `lines` is to be looked at before the fast reader sees it."""
    content = lines.encode("utf-8", "surrogatepass")
    return (
        len(content) > _SHORT
        or len(content.translate(None, _ODD_BYTES)) < len(content)
        or "\n---" in lines
        or "\n..." in lines
        or lines.startswith(("---", "..."))
    )


def _outside(lines: str) -> YamlFault | None:
    """Return what no block of one document may hold: a control character, a document's mark."""
    control = _CONTROL.search(lines)
    if control:
        return _fault_at(lines, control.start(), f"the character {control.group()!r}")
    document = _DOCUMENT.search(lines)
    return document and _fault_at(lines, document.start(), "a second document begins")


def _fault_at(lines: str, at: int, message: str) -> YamlFault:
    return YamlFault(lines.count("\n", 0, at), at - lines.rfind("\n", 0, at) - 1, message)


_TAG_OR_ALIAS = re.compile(r"(?<![^\s\[\]{},:?\-\"'])[!*]")
_TAB_BEFORE = re.compile(r"^ *+\t[ \t]*+[^\s#]", re.MULTILINE)
_INDENTED = (64, " \t-?:")
_DIGITS = (1_024, "0123456789_")


def _is_odd(lines: str) -> bool:
    """Say whether the fast reader could read `lines` otherwise, or not survive them.

    Lists in lists need indentation, and the time that a number takes is the square of its
    digits.
    """
    if ("!" in lines or "*" in lines) and _TAG_OR_ALIAS.search(lines):
        return True
    if "\t" in lines and _TAB_BEFORE.search(lines):
        return True
    return _has_run(lines, *_INDENTED) or _has_run(lines, *_DIGITS)


def _has_run(lines: str, window: int, letters: str) -> bool:
    """Say whether a window is all of `letters`, as one of every run of twice its length is."""
    places = range(0, len(lines) - window + 1, window)
    return any(not lines[at : at + window].strip(letters) for at in places)


_load = partial(
    loads,
    parse_datetime=False,
    alias_limits=AliasLimits(max_total_replayed_events=0),
    duplicate_key_policy=DuplicateKeyPolicy.Error,
)
_PLACE = re.compile(r"YAML parse error at line (\d+), column (\d+)\n")


def _read_fast(lines: str) -> dict[str, object] | YamlFault | None:
    """Return the fields, why there are none, or nothing where that is for the careful reader."""
    try:
        found: object = _load(lines)
    except (ValueError, TypeError) as error:
        return _refusal(str(error))
    if type(found) is dict:
        fields = cast("dict[object, object]", found)
        if _is_certain(fields, lines):
            return cast("dict[str, object]", found)
    return None


def _refusal(message: str) -> YamlFault | None:
    place = _PLACE.match(message)
    if place is None:
        return None
    reason = message.rpartition("\n")[2]
    return YamlFault(int(place.group(1)) - 1, int(place.group(2)) - 1, reason)


def _is_certain(fields: dict[object, object], lines: str) -> bool:
    if not _TEXT.issuperset(map(type, fields)):
        return False
    for key, value in fields.items():
        kind = type(value)
        if kind is list:
            if not _SIMPLE.issuperset(map(type, cast("list[object]", value))):
                return False
        elif kind is int:
            if value not in _PLAIN_NUMBERS or not _stands(f"{key}: {value}", lines):
                return False
        elif kind not in _SIMPLE and not _is_flat(value):
            return False
    return not _ends_in_nothing(fields)


def _ends_in_nothing(fields: dict[object, object]) -> bool:
    """Say whether the last text could be a block without lines: it has no line break then."""
    value: object = next(reversed(fields.values()), None)
    if isinstance(value, dict):
        value = next(reversed(cast("dict[object, object]", value).values()), None)
    return value == "\n" or (isinstance(value, list) and value[-1:] == ["\n"])


def _is_flat(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    pairs = cast("dict[object, object]", value)
    return _TEXT.issuperset(map(type, pairs)) and _SIMPLE.issuperset(map(type, pairs.values()))


_PLAIN_NUMBERS = range(-(10**18), 10**18)
_TEXT = frozenset({str})
_SIMPLE = frozenset({str, bool, type(None)})


def _stands(line: str, lines: str) -> bool:
    """Say whether `line` is one of `lines`, which it is where a number is written plainly."""
    at = 0 if lines.startswith(line) else lines.find(f"\n{line}") + 1
    behind = lines[at + len(line) : at + len(line) + 1]
    return (at > 0 or lines.startswith(line)) and behind in {"\n", "\r"}
