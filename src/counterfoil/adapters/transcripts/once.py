"""A set of record ids that stays small: what was read once is not read again.

A long session repeats ids across resumes and compactions (transcripts.md 1, rules 4
and 8). The newest ids are in a Python set of 64-bit hashes; when it is full they move
into packed buckets of 8 bytes an id, an eighth of what the set takes.
"""

_FULL = 1 << 19
_BUCKETS = 1 << 13
_WIDTH = 8
_MASK = (1 << 64) - 1


class SeenIds:
    """The ids seen so far, by their 64-bit hashes, which differ from run to run."""

    __slots__ = ("_buckets", "_newest")

    def __init__(self) -> None:
        self._newest: set[int] = set()
        self._buckets: list[bytearray] = []

    def add(self, id_: str) -> bool:
        """Take in `id_` and say whether it is new."""
        key = hash(id_)
        if key in self._newest or (self._buckets and self._is_packed(key)):
            return False
        self._newest.add(key)
        if len(self._newest) >= _FULL:
            self._pack()
        return True

    def __contains__(self, id_: str) -> bool:
        """Say whether `id_` was seen."""
        key = hash(id_)
        return key in self._newest or (bool(self._buckets) and self._is_packed(key))

    def _pack(self) -> None:
        self._buckets = self._buckets or [bytearray() for _ in range(_BUCKETS)]
        for key in self._newest:
            self._buckets[key % _BUCKETS] += (key & _MASK).to_bytes(_WIDTH, "little")
        self._newest = set()

    def _is_packed(self, key: int) -> bool:
        bucket = self._buckets[key % _BUCKETS]
        packed = (key & _MASK).to_bytes(_WIDTH, "little")
        place = bucket.find(packed)
        while place >= 0 and place % _WIDTH:  # found across the border of two ids
            place = bucket.find(packed, place + 1)
        return place >= 0
