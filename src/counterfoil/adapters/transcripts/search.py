"""Many needles in a large file at once: raw bytes first, decoded records where they hit.

The bytes of the file are searched for one rare piece of each needle (its anchor) with
an Aho-Corasick automaton. Only records in which an anchor stands are decoded, flattened
and searched for the whole needles. One pass, linear in the file, whatever the number
of needles; a needle that was found in the words of a tool is looked for no more.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple

from counterfoil.core.ids import ThreadId
from counterfoil.core.refs.needles import EVIDENCE, Needle, Whose, fits, flatten
from counterfoil.ports.transcripts import Origin, Position, Sighting, Wanted

_BLOCK = 1 << 22
_LONGEST_ANCHOR = 32
_SAMPLE = 1 << 20
_RUN = re.compile(r"[A-Za-z0-9_.\-]+")
_WHOLE = re.compile(r"[A-Za-z0-9_.:\-]+")
_RUNS = 4
_COLOURED = b"\\u001b"


class Words(NamedTuple):
    """A text of a record, whose words it is, and in which thread it stands."""

    whose: Whose
    text: str
    thread: ThreadId | None


class NeedleSearch:
    """The needles that are still looked for, over the files of one transcript."""

    def __init__(self, wanted: Sequence[Wanted], words: Callable[[bytes], Iterator[Words]]) -> None:
        self._wanted = wanted
        self._words = words
        self._open = {number for number, (needle, _, _) in enumerate(wanted) if needle.text}
        self._seen: set[tuple[int, Whose, ThreadId | None]] = set()
        self._counts: dict[bytes, int] = {}
        self._build()

    def _build(self) -> None:
        import ahocorasick_rs  # noqa: PLC0415 - most checks need none

        numbers = sorted(self._open)
        needles = [self._wanted[number].needle for number in numbers]
        anchors = sorted({one for needle in needles for one in anchors_of(needle, self._counts)})
        self._anchors = ahocorasick_rs.BytesAhoCorasick([*anchors, _COLOURED])
        by_text: dict[str, list[int]] = {}
        for number, needle in zip(numbers, needles, strict=True):
            by_text.setdefault(needle.text, []).append(number)
        self._texts = ahocorasick_rs.AhoCorasick(list(by_text))
        self._numbers = list(by_text.values())
        self._built_for = len(numbers)

    def _sample(self, block: bytes) -> None:
        """Count the runs of all needles in a first piece, so that anchors can be rare."""
        import ahocorasick_rs  # noqa: PLC0415 - most checks need none

        needles = [self._wanted[number].needle for number in self._open]
        runs = sorted({run for needle in needles for run in plain_runs(needle)})
        self._counts = dict.fromkeys(runs, 0)
        if runs:
            found = ahocorasick_rs.BytesAhoCorasick(runs)
            for run, _, _ in found.find_matches_as_indexes(block, overlapping=True):
                self._counts[runs[run]] += 1
            self._build()

    def sightings(
        self,
        file: BinaryIO,
        origin: Origin,
        words: Callable[[bytes], Iterator[Words]] | None = None,
    ) -> Iterator[Sighting]:
        """Yield where the needles stand in the records of `file`."""
        line = 1
        while block := file.read(_BLOCK):
            block += file.readline()
            if not self._counts:
                self._sample(block[:_SAMPLE])
            if len(self._open) * 2 < self._built_for:
                self._build()
            for number, record in self._hit_lines(block, line):
                for found in (words or self._words)(record):
                    yield from self._in_words(found, number, origin)
            line += block.count(b"\n")

    def in_text(
        self, file: BinaryIO, thread: ThreadId, line: int, origin: Origin
    ) -> Iterator[Sighting]:
        """Yield the needles that stand in a whole output beside the record of `line`."""
        while block := file.read(_BLOCK):
            block += file.readline()
            words = Words("tool", block.decode("utf-8", "replace"), thread)
            yield from self._in_words(words, line, origin)

    def _hit_lines(self, block: bytes, line: int) -> Iterator[tuple[int, bytes]]:
        done = counted = 0
        for _, start, _ in self._anchors.find_matches_as_indexes(block):
            if start < done:
                continue
            begin = block.rfind(b"\n", 0, start) + 1
            end = block.find(b"\n", start)
            done = len(block) if end < 0 else end
            line += block.count(b"\n", counted, begin)
            counted = begin
            yield line, block[begin:done]

    def _in_words(self, words: Words, line: int, origin: Origin) -> Iterator[Sighting]:
        flat = flatten(words.text)
        for text, place, _ in self._texts.find_matches_as_indexes(flat, overlapping=True):
            for number in self._numbers[text]:
                key = (number, words.whose, words.thread)
                if key in self._seen or not fits(self._wanted[number].needle, flat, place):
                    continue
                self._seen.add(key)
                yield Sighting(number, words.whose, words.thread, line, origin)
                self._settle(number, words, origin.at(line))

    def _settle(self, number: int, words: Words, position: Position) -> None:
        """Look no more for what stands in evidence before the reply that needs it."""
        _, thread, before = self._wanted[number]
        if words.whose in EVIDENCE and words.thread == thread and position < before:
            self._open.discard(number)


def anchors_of(needle: Needle, counts: Mapping[bytes, int] | None = None) -> tuple[bytes, ...]:
    """Return what stands in raw JSON wherever `needle` stands in its text.

    The rarest run of plain ASCII, by `counts` of a sample; without any, the first
    letters both as they are and as JSON can escape them.
    """
    if needle.kind == "place" and '"' in needle.text:
        return (needle.text[needle.text.index('"') :].encode(),)  # `", line 12`
    runs = plain_runs(needle)
    if runs:
        known = counts or {}
        return (min(runs, key=lambda run: (known.get(run, 0), -len(run))),)
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
    runs = sorted(pattern.findall(needle.text), key=len, reverse=True)[:_RUNS]
    return [run[:_LONGEST_ANCHOR].encode() for run in runs]
