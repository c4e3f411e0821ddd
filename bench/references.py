"""What reading and checking the references of one reply costs, and of hostile text.

    python bench/references.py

A reply of 4 kB is read for entries, places, commits, quotations and sources; entries are
weighed against 10,000 stored ones, places against what 512 events showed. A hostile
text of 1 MB is read in under a second, and one of twice the length takes about twice as
long, whatever it is made of.
"""

import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.figures import Figure, at_most, foreign_load, show

from counterfoil.core.intervals import Intervals
from counterfoil.core.refs.cited import check_entries
from counterfoil.core.refs.entries import find_entry_references
from counterfoil.core.refs.literals import Place, find_literals
from counterfoil.core.refs.needles import flatten, needles_of
from counterfoil.core.refs.resolve import Resolution, place_evidence
from counterfoil.core.shown import FileSeen, FilesShown

_REPLIES = 300
_TIMES = 8
_LENGTH = 4_000
_ENTRIES = 10_000
_EVENTS = 512
_P99_MS = 1.5
_MEGABYTE = 1_000_000
_SECONDS = 1.0
_DOUBLING = 2.5

HOSTILE = {
    "entries 1,1,1,…": ("entries ", "1,"),
    "entries 1, 1, 1, …": ("entries ", "1, "),
    "dashes 1-1-1-…": ("entries ", "1-"),
    "ranges 1-2,…": ("entries ", "1-2,"),
    "digits 111…": ("entry ", "1"),
    "entry ( …": ("", "entry ("),
    "entry ( spaces": ("entry (", " "),
    "entry entry …": ("", "entry "),
    "entries 1 and …": ("entries 1", " and 1"),
    "a:1:1:1…": ("a", ":1"),
    "a.py:1 a.py:1 …": ("", "a.py:1 "),
    "quotes": ('it says "', '"'),
    "quotes, said": ("", 'it says "a" '),
    "quotes, open": ("", 'it says "' + "a" * 40 + " "),
    "backticks": ("", "`"),
    "backticks, said": ("", "it says `a` `"),
    "URLs": ("", "http://a.b/c "),
    "one URL": ("http://", "a://"),
    "URL brackets": ("http://a.b/", "("),
    "fences": ("", "```\n"),
    "fences, shown": ("", "the output:\n```\nabc def\n```\n"),
    "slashes": ("", "/"),
    "back slashes, place": ("", "a\\"),
    "dots": ("", "a."),
    "elisions": ("it says `", "... "),
    "commits": ("", "commit abcdef1 "),
    "hex": ("commit ", "abcdef01"),
    "line breaks": ("", "\n"),
    "block quotes": ("", "> "),
}


class _Checked:
    """What replies are weighed against."""

    def __init__(self) -> None:
        self.stored = Intervals((first, first + 97) for first in range(1, _ENTRIES, 100))
        self.files = FilesShown()
        for number in range(_EVENTS):
            seen = FileSeen(path=f"/shop/src/m{number % 90}.py", how="read", first=1, last=80)
            self.files.add(seen, number)

    def __call__(self, reply: str) -> int:
        """Read and check `reply` and return how many references it has."""
        entries = tuple(find_entry_references(reply))
        check_entries(entries, self.stored)
        literals = find_literals(reply)
        for literal in literals:
            if isinstance(literal, Place):
                found = self.files.candidates(literal.path, literal.first, literal.last)
                evidence = place_evidence(found, literal.first)
                if Resolution(evidence, "file-not-in-record").verdict == "supported":
                    continue
            needles_of(literal)
        return len(entries) + len(literals)


def _reply(rng: random.Random) -> str:
    """Return an invented reply with about 30 references in 4 kB."""
    parts: list[str] = []
    while sum(map(len, parts)) < _LENGTH:
        parts.append(
            rng.choice(
                (
                    "The parser reads the table first and keeps the order of its rows. ",
                    "Nothing else had to change, and the tests pass again on both branches. ",
                    "The values are kept as they stood when the queue was read, see below. ",
                    "What was left of the old table is gone, and its two callers with it. ",
                    "It now returns early where the basket is empty, as was asked for here. ",
                    f"That was settled in entry {rng.randint(1, 12_000)}. ",
                    f"Compare entries {rng.randint(1, 90)}, {rng.randint(91, 99)}–120 and 7. ",
                    f"The fault was in `src/m{rng.randint(1, 99)}.py:{rng.randint(1, 120)}`. ",
                    f"It was fixed in commit {rng.getrandbits(40):010x}. ",
                    'The output says "AssertionError: 3 rows of the table were lost". ',
                    f"It follows https://docs.example.org/page/{rng.randint(1, 99)}. ",
                    f"\n\n- point {rng.randint(1, 9)}: the entry is kept; see it there.\n",
                    "\n\nThe log shows:\n```\nqueue: 12 jobs left, 3 of them are stale\n```\n",
                )
            )
        )
    return "".join(parts)[:_LENGTH]


def _replies() -> list[Figure]:
    rng = random.Random(1)
    replies = [_reply(rng) for _ in range(_REPLIES)]
    checked = _Checked()
    references = sum(map(checked, replies)) / len(replies)
    taken = sorted(_milliseconds(checked, reply) for _ in range(_TIMES) for reply in replies)
    plain = "The parser reads the table first, and nothing else was to change here. " * 56
    nothing = sorted(_milliseconds(checked, plain) for _ in range(500))
    return [
        Figure(f"median of a reply with {references:.0f} references", f"{_at(taken, 0.5):.2f} ms"),
        at_most("99th percentile", _at(taken, 0.99), _P99_MS, " ms"),
        Figure("median of a reply with nothing to find", f"{_at(nothing, 0.5):.2f} ms"),
    ]


def _at(ordered: Sequence[float], part: float) -> float:
    return ordered[int(len(ordered) * part)]


def _milliseconds(work: Callable[[str], object], text: str) -> float:
    """Return the time of the processor: a piece this short is not to wait for others."""
    began = time.thread_time()
    work(text)
    return (time.thread_time() - began) * 1_000


def hostile(name: str, length: int) -> str:
    """Return the hostile text of that name, of about `length` characters."""
    head, body = HOSTILE[name]
    return head + body * ((length - len(head)) // len(body))


def _read_hostile(text: str) -> None:
    for _ in find_entry_references(text):
        pass
    for literal in find_literals(text):
        needles_of(literal)
    flatten(text)


def _hostile(name: str) -> list[Figure]:
    once, twice = hostile(name, _MEGABYTE), hostile(name, 2 * _MEGABYTE)
    pairs = [
        (_milliseconds(_read_hostile, once), _milliseconds(_read_hostile, twice)) for _ in range(3)
    ]
    first, second = (min(column) / 1_000 for column in zip(*pairs, strict=True))
    return [
        at_most(f"{name}: 1 MB", first, _SECONDS, " s"),
        at_most(f"{name}: 2 MB / 1 MB", second / first, _DOUBLING),
    ]


def main() -> None:
    with foreign_load() as foreign:
        figures = _replies()
    show("references of a reply of 4 kB", figures, foreign.cores)
    with foreign_load() as foreign:
        figures = [figure for name in HOSTILE for figure in _hostile(name)]
    show("references of hostile text", figures, foreign.cores)


if __name__ == "__main__":
    main()
