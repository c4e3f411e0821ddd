"""Shapes of records, counted, without a single value: for reports about new formats.

A key that is not a plain name, or one of very many in one object, can be a value (a
path, an id): it is shown as `<key>`. Of values only the kinds of JSON are shown, and
those of `type` where they are plain names.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from counterfoil.adapters.transcripts.lines import Damage, Tally, read_lines
from counterfoil.core.errors import CounterfoilError
from counterfoil.wire.json_values import is_list, is_object, kind_of_value

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}\Z")
_KIND = re.compile(r"[a-z][a-z0-9_.-]{0,39}\Z")
_MANY = 40
_DEEPEST = 6


def files_of(path: Path) -> Iterator[Path]:
    """Yield `path`, or every file below it that can hold records."""
    if path.is_file():
        yield path
        return
    for folder, names, files in os.walk(path):
        names.sort()
        yield from (Path(folder) / name for name in sorted(files) if name.endswith(".jsonl"))


def shapes_of(paths: Iterable[Path]) -> tuple[Counter[str], Counter[str], int]:
    """Return the shapes of all records, the codes of what cannot be read, and the files."""
    shapes: Counter[str] = Counter()
    damage: Counter[str] = Counter()
    files = 0
    for path in paths:
        files += 1
        try:
            with path.open("rb") as file:
                for line in read_lines(file, Tally()):
                    if isinstance(line, Damage):
                        damage[line.what] += 1
                        continue
                    _count(line.content, shapes, damage)
        except (OSError, CounterfoilError):
            damage["unreadable-file"] += 1
    return shapes, damage, files


def _count(content: bytes, shapes: Counter[str], damage: Counter[str]) -> None:
    try:
        value = msgspec.json.decode(content)
    except msgspec.MsgspecError:
        damage["torn-line"] += 1
        return
    shapes[shape_of(value)] += 1


def shape_of(value: object, depth: int = 0) -> str:
    """Return the shape of a JSON value: `{type="user",message:{content:text}}`."""
    if is_object(value):
        if depth >= _DEEPEST:
            return "{…}"
        if len(value) > _MANY:
            return "{<key>:…}"
        parts = sorted({_field(name, item, depth) for name, item in value.items()})
        return "{" + ",".join(parts) + "}"
    if is_list(value):
        if depth >= _DEEPEST:
            return "[…]"
        inner = sorted({shape_of(item, depth + 1) for item in value})
        return "[" + "|".join(inner) + "]"
    return kind_of_value(value)


def _field(name: str, value: object, depth: int) -> str:
    if name in {"type", "subtype", "role"} and isinstance(value, str) and _KIND.match(value):
        return f'{name}="{value}"'
    shown = name if _NAME.match(name) else "<key>"
    return f"{shown}:{shape_of(value, depth + 1)}"
