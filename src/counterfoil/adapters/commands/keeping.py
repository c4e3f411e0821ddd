"""What a command says, kept within a bound: its beginning, or its end."""

from typing import Protocol

PIECE = 1 << 16
"""Bytes that are read at a time."""

_LONGEST_CHARACTER = 4
"""Bytes of a character of UTF-8, at most."""


class Keeper(Protocol):
    """Takes what a stream says, piece by piece."""

    @property
    def is_full(self) -> bool:
        """Say whether nothing more is wanted."""
        ...

    def keep(self, said: bytes) -> None:
        """Take `said`, which follows what was said before."""
        ...


class Head:
    """The first `size` bytes of a stream; full once more was said than that."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._said = bytearray()
        self._is_full = False

    @property
    def is_full(self) -> bool:
        """Say whether more was said than is kept."""
        return self._is_full

    def keep(self, said: bytes) -> None:
        """Take `said` as far as there is room."""
        room = self._size - len(self._said)
        self._said += said[:room]
        self._is_full = self._is_full or len(said) > room

    def text(self) -> str:
        """Return what is kept; bytes that are no text are replaced."""
        return self._said.decode("utf-8", "replace")


class Tail:
    """The last `size` bytes of a stream, in memory that does not grow with the rest."""

    def __init__(self, size: int) -> None:
        self._size = max(size, 0)
        self._said = bytearray()
        self._is_cut = False

    @property
    def is_full(self) -> bool:
        """Say that there is always room: a command is not ended for what it says."""
        return False

    @property
    def is_cut(self) -> bool:
        """Say whether more was said than is kept."""
        return self._is_cut or len(self._said) > self._size

    def keep(self, said: bytes) -> None:
        """Take `said`, and let go of the beginning where there is too much."""
        self._said += said
        if len(self._said) >= 2 * self._size + PIECE:  # not each time: moving costs
            self._let_go()

    def text(self) -> str:
        """Return what is kept, from its first whole character; the rest is replaced."""
        self._let_go()
        said = bytes(self._said)
        return said[_first_character(said) if self._is_cut else 0 :].decode("utf-8", "replace")

    def _let_go(self) -> None:
        self._is_cut = self.is_cut
        del self._said[: max(0, len(self._said) - self._size)]


def _first_character(said: bytes) -> int:
    """Return where the rest of a character that was cut is over; 0 where that is no rest."""
    for place, byte in enumerate(said[:_LONGEST_CHARACTER]):
        if byte & 0xC0 != 0x80:  # noqa: PLR2004 - the mark of a byte that continues a character
            return place
    return len(said) if len(said) < _LONGEST_CHARACTER else 0
