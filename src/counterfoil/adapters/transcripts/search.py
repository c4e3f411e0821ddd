"""Many needles in a large file at once: raw bytes first, decoded records where they hit.

The bytes of the file are searched for one rare piece of each needle (its anchor) with
an Aho-Corasick automaton. Only records in which an anchor stands are decoded, flattened
and searched for the whole needles. One pass, in the time of the bytes and of the places
where anchors stand; a needle that was found in the words of a tool is looked for no more.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple, TypeAlias

from counterfoil.adapters.transcripts.lines import LONGEST
from counterfoil.core.ids import ThreadId
from counterfoil.core.refs.needles import EVIDENCE, Needle, Whose, fits, flatten, places_of
from counterfoil.ports.transcripts import Origin, Position, Sighting, Wanted

_BLOCK = 1 << 22
_LONGEST_ANCHOR = 32
_SAMPLE = 1 << 18
_MANY = 5000
_WINDOW = 1 << 16
_RUN = re.compile(r"[A-Za-z0-9_.\-]+")
_WHOLE = re.compile(r"[A-Za-z0-9_.:\-]+")
_RUNS = 16
_COLOURED = b"\\u001b"


_Beside: TypeAlias = tuple[bytes, int]
_ALWAYS: _Beside = (b"", 0)
"""An anchor near which nothing more has to stand."""

# A text is longer in JSON than flattened: escapes, colours, numbers of lines, layout.
_GROWTH, _SLACK = 8, 400


class Words(NamedTuple):
    """A text of a record, whose words it is, and in which thread it stands."""

    whose: Whose
    text: str
    thread: ThreadId | None


class _Anchor(NamedTuple):
    """One anchor: the needles that it stands for, and what must stand near it."""

    numbers: dict[_Beside, list[int]]
    every: set[int]

    def near(self, block: bytes, start: int, end: int) -> Iterator[int]:
        """Yield the needles beside whose anchor, from `start` to `end`, all stands."""
        for (run, reach), numbers in self.numbers.items():
            if not run or block.find(run, max(start - reach, 0), end + reach) >= 0:
                yield from numbers


class NeedleSearch:
    """The needles that are still looked for, over the files of one transcript."""

    def __init__(self, wanted: Sequence[Wanted], words: Callable[[bytes], Iterator[Words]]) -> None:
        self._wanted = wanted
        self._words = words
        self._open = {number for number, (needle, *_) in enumerate(wanted) if needle.text}
        self._seen: set[tuple[int, Whose, ThreadId | None]] = set()
        self._here: set[int] = set()
        self._leaving: list[int] = []
        self._runs: dict[int, tuple[tuple[bytes, _Beside], ...]] = {}
        self._built_for = -1

    def _build(self) -> None:
        import ahocorasick_rs  # noqa: PLC0415 - most checks need none

        anchors: dict[bytes, _Anchor] = {}
        for number in sorted(self._here):
            for run, near in self._runs[number]:
                anchor = anchors.setdefault(run, _Anchor({}, set()))
                anchor.numbers.setdefault(near, []).append(number)
                anchor.every.add(number)
        self._anchors = list(anchors.values())
        automaton = ahocorasick_rs.BytesAhoCorasick(
            [*anchors, _COLOURED],
            implementation=None if len(anchors) > _MANY else ahocorasick_rs.Implementation.DFA,
        )
        self._find = automaton.find_matches_as_indexes
        self._built_for = len(self._here)

    def _choose(self, block: bytes) -> None:
        """Count the runs of all needles in a first piece, so that anchors can be rare."""
        import ahocorasick_rs  # noqa: PLC0415 - most checks need none

        runs = sorted({run for one in self._open for run in plain_runs(self._wanted[one].needle)})
        counts = dict.fromkeys(runs, 0)
        if runs:
            find = ahocorasick_rs.BytesAhoCorasick(runs).find_matches_as_indexes
            for start in range(0, len(block), _WINDOW):
                for run, _, _ in find(block[start : start + _WINDOW], overlapping=True):
                    counts[runs[run]] += 1
        self._runs = {
            one: tuple(anchors_of(self._wanted[one].needle, counts)) for one in self._open
        }

    def sightings(
        self,
        file: BinaryIO,
        origin: Origin,
        words: Callable[[bytes], Iterator[Words]] | None = None,
    ) -> Iterator[Sighting]:
        """Yield where the needles stand in the records of `file`."""
        line = 1
        self._begin()
        for block in _blocks(file):
            self._prepare(block, origin.at(line))
            for number, record, numbers in self._hit_lines(block, line):
                for found in (words or self._words)(record):
                    yield from self._in_words(found, numbers, number, origin)
            line += block.count(b"\n")

    def in_text(
        self, file: BinaryIO, thread: ThreadId, line: int, origin: Origin
    ) -> Iterator[Sighting]:
        """Yield the needles that stand in a whole output beside the record of `line`."""
        self._begin()
        for block in _blocks(file):
            self._prepare(block, origin.at(line))
            words = Words("tool", block.decode("utf-8", "replace"), thread)
            yield from self._in_words(words, None, line, origin)

    def _begin(self) -> None:
        """Look for all that is open in another file."""
        self._here, self._built_for = set(self._open), -1
        self._leaving = sorted(self._open, key=lambda one: self._wanted[one].last, reverse=True)

    def _prepare(self, block: bytes, position: Position) -> None:
        """Drop what no reply behind `position` needs, and build anew where that pays."""
        if not self._runs:
            self._choose(block[:_SAMPLE])
        while self._leaving and self._wanted[self._leaving[-1]].last <= position:
            self._here.discard(self._leaving.pop())
        if self._built_for < 0 or len(self._here) * 2 < self._built_for:
            self._build()

    def _hit_lines(self, block: bytes, line: int) -> Iterator[tuple[int, bytes, set[int] | None]]:
        """Yield the lines in which needles can stand, and which needles those are.

        `None` stands for any: escapes of a coloured text can stand inside any run.
        """
        begin = stop = counted = 0
        numbers: set[int] | None = set()
        for anchor, start, end in self._hits(block):
            if start >= stop:
                if numbers != set():
                    yield line, block[begin:stop], numbers
                begin = block.rfind(b"\n", 0, start) + 1
                stop = block.find(b"\n", start)
                stop = len(block) if stop < 0 else stop
                line += block.count(b"\n", counted, begin)
                counted, numbers = begin, set[int]()
            if anchor is None:
                numbers = None
            elif numbers is not None and not anchor.every <= numbers:
                numbers.update(anchor.near(block, start, end))
        if numbers != set():
            yield line, block[begin:stop], numbers

    def _hits(self, block: bytes) -> Iterator[tuple[_Anchor | None, int, int]]:
        """Yield the anchors in `block`, window by window: a hit costs memory."""
        view = memoryview(block)
        last = len(self._anchors)
        for base in range(0, len(block), _WINDOW):
            window = view[base : base + _WINDOW + _LONGEST_ANCHOR]
            for number, start, end in self._find(window, overlapping=True):
                if start < _WINDOW:
                    anchor = self._anchors[number] if number < last else None
                    yield anchor, base + start, base + end

    def _standing(self, flat: str) -> set[int]:
        """Return the needles that can stand in `flat`, in which nothing breaks a run."""
        content = flat.encode("utf-8", "replace")
        return {
            number
            for anchor, start, end in self._hits(content)
            if anchor is not None
            for number in anchor.near(content, start, end)
        }

    def _in_words(
        self, words: Words, numbers: set[int] | None, line: int, origin: Origin
    ) -> Iterator[Sighting]:
        flat = flatten(words.text)
        for number in sorted(self._standing(flat) if numbers is None else numbers):
            key = (number, words.whose, words.thread)
            if key in self._seen or number not in self._here:
                continue
            needle = self._wanted[number].needle
            if any(fits(needle, flat, place) for place in places_of(needle, flat)):
                self._seen.add(key)
                yield Sighting(number, words.whose, words.thread, line, origin)
                self._settle(number, words, origin.at(line))

    def _settle(self, number: int, words: Words, position: Position) -> None:
        """Look no more for what stands in evidence of the thread that needs it.

        Behind the first reply that needs it, a sub-agent's file can still hold an
        earlier place; in this file there is none.
        """
        wanted = self._wanted[number]
        if words.whose in EVIDENCE and words.thread == wanted.thread:
            self._here.discard(number)
            if position < wanted.first:
                self._open.discard(number)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of `file` in blocks that end where lines do."""
    while block := file.read(_BLOCK):
        yield block + file.readline(LONGEST)


def anchors_of(
    needle: Needle, counts: Mapping[bytes, int] | None = None
) -> Iterator[tuple[bytes, _Beside]]:
    """Yield what stands in raw JSON wherever `needle` does, and what stands near that.

    The rarest run of plain ASCII, by `counts` of a sample, and the next one beside it;
    without any, the first letters both as they are and as JSON can escape them.
    """
    if needle.kind == "place" and "'" in needle.text:
        yield needle.text.partition("'")[2].encode(), _ALWAYS  # `, line 12`
        return
    known = counts or {}
    runs = sorted(plain_runs(needle), key=lambda run: (known.get(run, 0), -len(run)))
    if runs:
        reach = _GROWTH * len(needle.text) + _SLACK
        yield runs[0], (runs[1], reach) if len(runs) > 1 else _ALWAYS
        return
    for letters in _letters_of(needle):
        yield letters, _ALWAYS


def _letters_of(needle: Needle) -> tuple[bytes, ...]:
    letters = next((word for word in needle.text.split() if not word.isascii()), "")[:2]
    if not letters:
        return (needle.text[:1].encode("utf-8", "surrogatepass"),)
    units = letters.encode("utf-16-be", "surrogatepass")
    codes = [int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2)]
    return (
        letters.encode("utf-8", "replace"),
        "".join(f"\\u{code:04x}" for code in codes).encode(),
        "".join(f"\\u{code:04X}" for code in codes).encode(),
    )


def plain_runs(needle: Needle) -> list[bytes]:
    """Return the runs of `needle` that JSON writes as they are and no layout breaks."""
    pattern = _RUN if needle.kind == "text" else _WHOLE
    found: list[str] = pattern.findall(needle.text)
    runs = sorted(found, key=len, reverse=True)[:_RUNS]
    return list(dict.fromkeys(run[:_LONGEST_ANCHOR].encode() for run in runs))
