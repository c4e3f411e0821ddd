"""A set of record ids in 16 bytes each: what was read once is not read again.

A session of five million records repeats ids across resumes and compactions; a Python
set would take five times the memory (transcripts.md 1, rules 4 and 8).
"""

from hashlib import blake2b

_BUCKETS = 1 << 13
_WIDTH = 16


class SeenIds:
    """The ids seen so far. A UUID is kept exactly, any other id by a 128-bit digest."""

    __slots__ = ("_buckets",)

    def __init__(self) -> None:
        self._buckets: list[bytearray | None] = [None] * _BUCKETS

    def add(self, id_: str) -> bool:
        """Take in `id_` and say whether it is new."""
        key = _key(id_)
        place = (key[0] << 5 | key[1] >> 3) & (_BUCKETS - 1)
        bucket = self._buckets[place]
        if bucket is None:
            self._buckets[place] = bytearray(key)
            return True
        if _holds(bucket, key):
            return False
        bucket += key
        return True

    def __contains__(self, id_: str) -> bool:
        """Say whether `id_` was seen."""
        key = _key(id_)
        bucket = self._buckets[(key[0] << 5 | key[1] >> 3) & (_BUCKETS - 1)]
        return bucket is not None and _holds(bucket, key)


def _holds(bucket: bytearray, key: bytes) -> bool:
    place = bucket.find(key)
    while place >= 0 and place % _WIDTH:
        place = bucket.find(key, place + 1)
    return place >= 0


def _key(id_: str) -> bytes:
    if len(id_) == 36:  # noqa: PLR2004 - the length of a UUID
        try:
            key = bytes.fromhex(id_.replace("-", ""))
        except ValueError:
            key = b""
        if len(key) == _WIDTH:
            return key
    return blake2b(id_.encode("utf-8", "surrogatepass"), digest_size=_WIDTH).digest()
