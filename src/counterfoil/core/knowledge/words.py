"""Words as a search sees them: of any script, whatever their letter case and form.

A text is folded: NFKC, letter case folded, everything that is neither letter, mark nor
number a gap between words, what only steers the layout left out. Scripts that put no
spaces between words (Han, kana, Thai, Lao, Khmer, Burmese) are written out as each
letter and each pair of neighbours, so that any run of two letters or more is found
where it stands:

>>> fold("The GRÖSSE of 東京都")
' the  grösse  of  東  東京  京  京都  都 '

Every word stands between two spaces of its own. So how often a word is there, and
whether some words stand next to one another, is asked of the folded text itself.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from unicodedata import category, normalize

_KEPT_BYTES = 64
"""Bytes of a stretch up to which its folded form is kept at hand; most are words."""

_WITHOUT_SPACES = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_WITHOUT_SPACES}]+")
_ASCII = bytes(
    byte if byte > 127 else ord(chr(byte).lower()) if chr(byte).isalnum() else ord(" ")  # noqa: PLR2004 - the last of ASCII
    for byte in range(256)
)
_SPACE_OF_NO_WIDTH = "\u200b"


def fold(text: str) -> str:
    """Return the words of `text`, each between two spaces; nothing where there are none."""
    words = text.encode("utf-8", "replace").translate(_ASCII).split()
    joined = b"  ".join(words)
    if not joined.isascii():
        kept = [word if word.isascii() else _plain(word) for word in words]
        joined = b"  ".join(filter(None, kept))
    return f" {joined.decode()} " if joined else ""


def spelled(text: str) -> tuple[str, ...]:
    """Return the words of `text` in their order, as `fold` has them."""
    return tuple(fold(text).split())


def terms_of(text: str) -> tuple[str, ...]:
    """Return the words by which pages are weighed for the query `text`, each once.

    Of a run without spaces these are its pairs, since a letter alone is everywhere; a
    run of one letter is that letter.

    >>> terms_of("cache of 東京都, the cache, 京")
    ('cache', 'of', '東京', '京都', 'the', '京')
    """
    return tuple(dict.fromkeys(_terms(spelled(text))))


def count_words(folded: str) -> int:
    """Return how many words a folded text has."""
    return folded.count("  ") + 1 if folded else 0


def times(word: str, folded: str) -> int:
    """Return how often `word` stands in a folded text."""
    return folded.count(f" {word} ")


def has_unspaced(text: str) -> bool:
    """Say whether a letter of a script without spaces is in `text`."""
    return _RUN.search(text) is not None


def phrase(words: tuple[str, ...]) -> str:
    """Return what a folded text holds where `words` stand in it next to one another."""
    return f" {'  '.join(words)} " if words else ""


def _terms(words: tuple[str, ...]) -> Iterator[str]:
    around = ("", *words, "")
    for place, word in enumerate(words):
        neighbours = (around[place], around[place + 2])
        if not (_RUN.fullmatch(word) and len(word) == 1 and any(map(_is_pair, neighbours))):
            yield word


def _is_pair(word: str) -> bool:
    return len(word) > 1 and _RUN.fullmatch(word) is not None


def _plain(word: bytes) -> bytes:
    return _at_hand(word) if len(word) <= _KEPT_BYTES else _folded(word)


def _folded(word: bytes) -> bytes:
    """Return the words in a stretch that is not ASCII; there may be none, or several."""
    text = normalize("NFKC", normalize("NFKC", word.decode()).casefold())
    return "  ".join(_RUN.sub(_written_out, text.translate(_LETTERS)).split()).encode()


_at_hand = lru_cache(1 << 16)(_folded)


def _written_out(run: re.Match[str]) -> str:
    letters = run.group()
    parts = [letters[0]]
    for one, next_ in pairwise(letters):
        parts += (one + next_, next_)
    return f" {' '.join(parts)} "


class _Letters(dict[int, str]):
    """What stands for each character: itself, a gap, or nothing; each is decided once."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        kind = category(letter)
        if kind[0] in "LMN":
            kept = letter
        else:
            kept = "" if kind == "Cf" and letter != _SPACE_OF_NO_WIDTH else " "
        self[code] = kept
        return kept


_LETTERS = _Letters()
