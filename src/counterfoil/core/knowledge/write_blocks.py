r"""Pages that an agent proposes in a text: blocks, each with the path that it is for.

```text
block   = opener, lines, closer
opener  = "---FILE:" path "---"    on a line of its own
closer  = "---END FILE---"         on a line of its own
```

Letter case and the spaces inside a delimiter are free; nothing but spaces stands behind
it. A delimiter inside a code fence of CommonMark is content; a fence that no line closes
is none. What stands between the delimiters is kept as it is, its line ends included.
Everything outside of blocks is talk.

>>> parse_blocks("---FILE: knowledge/a.md---\n# A\n---END FILE---\n").blocks[0].text
'# A\n'

What cannot be taken is a warning, and the other blocks stand (knowledge.md section 7).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from counterfoil.core.errors import InvalidIdError
from counterfoil.core.knowledge.changes import StorePath
from counterfoil.core.knowledge.lineage import folded

WarningCode = Literal["unclosed-block", "unsafe-path", "duplicate-path", "stray-end"]

_DASHES = "---"
_BLANK = " \t"
_CLOSERS = (["end", "file"], ["endfile"])
_END = "\n"
"""Stands for a closer where an opener has its path, in which no line break is."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)


class BlockWarning(NamedTuple):
    """Something of a proposal that is not written, at which line, and why.

    `path` is the path as it was written; `None` where no block is meant.
    """

    code: WarningCode
    line: int
    path: str | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBlock:
    """A page as it is proposed; `proposal[start:end]` is the block with its delimiters.

    `line` is that of its opener, from 1.
    """

    path: StorePath
    text: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """The blocks of a text, in their order, and what was not taken."""

    blocks: tuple[WriteBlock, ...]
    warnings: tuple[BlockWarning, ...]


class _Line(NamedTuple):
    number: int
    start: int
    end: int
    """Behind the line end."""
    text: str


class _Raw(NamedTuple):
    """A block as it was delimited, before its path is looked at."""

    path: str
    opener: _Line
    closer: _Line


def parse_blocks(proposal: str, *, pages: str = "knowledge") -> Proposal:
    """Return the blocks of `proposal` whose paths are those of pages below `pages`."""
    raws: list[_Raw] = []
    warnings: list[BlockWarning] = []
    opener: tuple[str, _Line] | None = None
    for line, path in _delimiters(_lines(proposal)):
        if opener is not None and path is None:
            raws.append(_Raw(opener[0], opener[1], line))
            opener = None
        elif path is None:
            message = "a block ends here that was not begun"
            warnings.append(BlockWarning("stray-end", line.number, None, message))
        else:
            warnings.extend(_unclosed(opener))
            opener = (path, line)
    warnings.extend(_unclosed(opener))
    return _taken(proposal, raws, warnings, pages)


def _taken(
    proposal: str, raws: Sequence[_Raw], warnings: list[BlockWarning], pages: str
) -> Proposal:
    blocks: list[WriteBlock] = []
    for raw in raws:
        fault = _fault_of_path(raw.path, pages)
        if fault:
            message = f"{raw.path!r} {fault}; this block is not written"
            warnings.append(BlockWarning("unsafe-path", raw.opener.number, raw.path, message))
        else:
            blocks.append(_block(proposal, raw))
    repeated = _repeated(blocks)
    warnings.extend(_twice(block) for block in blocks if folded(block.path) in repeated)
    return Proposal(
        tuple(block for block in blocks if folded(block.path) not in repeated),
        tuple(sorted(warnings, key=lambda warning: warning.line)),
    )


def _block(proposal: str, raw: _Raw) -> WriteBlock:
    return WriteBlock(
        path=StorePath(raw.path),
        text=proposal[raw.opener.end : raw.closer.start],
        line=raw.opener.number,
        start=raw.opener.start,
        end=raw.closer.end,
    )


def _repeated(blocks: Iterable[WriteBlock]) -> set[str]:
    """Return the paths that several blocks have, on some disk at least."""
    seen: set[str] = set()
    repeated: set[str] = set()
    for block in blocks:
        name = folded(block.path)
        (repeated if name in seen else seen).add(name)
    return repeated


def _twice(block: WriteBlock) -> BlockWarning:
    message = f"{str(block.path)!r} is proposed more than once; none of its blocks is written"
    return BlockWarning("duplicate-path", block.line, block.path, message)


def _unclosed(opener: tuple[str, _Line] | None) -> Iterator[BlockWarning]:
    if opener is not None:
        path, line = opener
        message = f"the block of {path!r} has no ---END FILE---; it is not written"
        yield BlockWarning("unclosed-block", line.number, path, message)


def _fault_of_path(text: str, pages: str) -> str:
    """Return what keeps `text` from being the path of a page, or nothing."""
    try:
        path = StorePath(text)
    except InvalidIdError as error:
        return error.found.removeprefix(f"path {text!r} ")
    if not path.startswith(f"{pages}/"):
        return f"is not below {pages!r}"
    return "" if path.endswith(".md") else "does not end in '.md'"


def _lines(text: str) -> list[_Line]:
    """Return the lines of `text`; LF alone ends one, and CR before it belongs to the end."""
    lines: list[_Line] = []
    start = 0
    for number, piece in enumerate(text.split("\n"), start=1):
        end = min(start + len(piece) + 1, len(text))
        bare = piece.removesuffix("\r")
        lines.append(_Line(number, start, end, bare.removeprefix("\ufeff") if not start else bare))
        start = end
    return lines


def _delimiters(lines: Sequence[_Line]) -> Iterator[tuple[_Line, str | None]]:
    """Yield the lines that are delimiters, an opener with its path, a closer with `None`."""
    closing = _longest_closers(lines)
    fence: str | None = None
    for place, line in enumerate(lines):
        marker = _fence_of(line.text)
        if fence is not None:
            if marker is not None and _closes(marker, fence):
                fence = None
        elif marker is not None and _opens(marker) and _is_closed(marker, closing[place]):
            fence = marker[0]
        elif (found := _delimiter(line.text)) is not None:
            yield line, None if found == _END else found


def _delimiter(line: str) -> str | None:
    """Return the path of an opener, `_END` for a closer, `None` for another line."""
    text = line.rstrip(_BLANK)
    if len(text) < 2 * len(_DASHES) or not (text.startswith(_DASHES) and text.endswith(_DASHES)):
        return None
    inner = text[len(_DASHES) : -len(_DASHES)].strip(_BLANK)
    if inner.lower().split() in _CLOSERS:
        return _END
    word, colon, path = inner.partition(":")
    if colon and word.rstrip(_BLANK).lower() == "file":
        return path.strip(_BLANK)
    return None


Marker = tuple[str, str]
"""The run of a fence and what stands behind it."""


def _fence_of(line: str) -> Marker | None:
    match = _FENCE.match(line)
    return (match[1], match[2]) if match else None


def _opens(marker: Marker) -> bool:
    """CommonMark 4.5: no backtick stands behind an opening run of backticks."""
    run, rest = marker
    return run[0] == "~" or "`" not in rest


def _closes(marker: Marker, fence: str) -> bool:
    run, rest = marker
    return run[0] == fence[0] and len(run) >= len(fence) and not rest.strip(_BLANK)


def _is_closed(marker: Marker, longest: tuple[int, int]) -> bool:
    run = marker[0]
    return len(run) <= longest[run[0] == "~"]


def _longest_closers(lines: Sequence[_Line]) -> list[tuple[int, int]]:
    """Return, for each line, the longest bare runs of ` and ~ that stand behind it."""
    longest = [(0, 0)] * len(lines)
    ticks = tildes = 0
    for place in range(len(lines) - 1, -1, -1):
        longest[place] = (ticks, tildes)
        marker = _fence_of(lines[place].text)
        if marker is not None and not marker[1].strip(_BLANK):
            length = len(marker[0])
            if marker[0][0] == "~":
                tildes = max(tildes, length)
            else:
                ticks = max(ticks, length)
    return longest
