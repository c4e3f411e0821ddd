"""How much of a reply is drawn as Markdown: what a screen can hold, and no more.

Markdown costs one widget a block and several for an item of a list, so a reply is drawn up
to a bound of characters and of what they cost. What is past it is counted; the whole reply
is one key away, as text.
"""

CHARACTERS = 16_384
"""Characters that are drawn at most."""

COST = 500
"""What may be drawn at most: a line costs one, an item of a list or a cell of a table more."""

_ITEM, _LINE = 3, 1
_MARKS = frozenset("-*+>#0123456789")


class Clip:
    """Takes a reply piece by piece, and lets through what fits."""

    def __init__(self) -> None:
        self.taken = 0
        self.cut = 0
        self._cost = 0
        self._is_start = True

    def take(self, text: str) -> str:
        """Return the part of `text` that is drawn; once something was cut, all is."""
        room = 0 if self.cut else CHARACTERS - self.taken
        fitting = self._fitting(text[:room])
        self.taken += len(fitting)
        self.cut += len(text) - len(fitting)
        return fitting

    def _fitting(self, text: str) -> str:
        for at, character in enumerate(text):
            self._cost += self._cost_of(character)
            if self._cost > COST:
                return text[:at]
        return text

    def _cost_of(self, character: str) -> int:
        is_start = self._is_start
        self._is_start = character == "\n" or (is_start and character in " \t")
        if is_start and character in _MARKS:
            return _ITEM
        return _LINE if character in "\n|" else 0
