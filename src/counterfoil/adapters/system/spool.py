"""A spool: in memory as long as it is small, then in a nameless temporary file."""

from collections.abc import Iterator
from typing import IO, Generic, TypeVar

T = TypeVar("T")

_IN_MEMORY = 8 << 20


class FileSpool(Generic[T]):
    """Keeps values in the order put in; memory stays flat however many they are.

    The file has no name, is this process's own, and holds what this process wrote: so
    unpickling it trusts nobody.
    """

    def __init__(self, in_memory: int = _IN_MEMORY) -> None:
        """Keep values of about `in_memory` bytes in memory."""
        self._room = in_memory
        self._few: list[T] = []
        self._file: IO[bytes] | None = None
        self._count = 0

    def put(self, value: T, weight: int) -> None:
        """Keep `value`, of about `weight` bytes, behind every earlier one."""
        if self._file is None and weight <= self._room:
            self._room -= weight
            self._few.append(value)
            return
        if self._file is None:
            import tempfile  # noqa: PLC0415 - most sessions fit into memory

            self._file = tempfile.TemporaryFile(prefix="counterfoil-")  # noqa: SIM115 - lives on
        import pickle  # noqa: PLC0415 - the same

        pickle.dump(value, self._file, protocol=pickle.HIGHEST_PROTOCOL)
        self._count += 1

    def __iter__(self) -> Iterator[T]:
        """Yield the values in their order; nothing is put in meanwhile."""
        yield from self._few
        if self._file is None:
            return
        import pickle  # noqa: PLC0415 - the same

        self._file.seek(0)
        for _ in range(self._count):
            yield pickle.load(self._file)  # noqa: S301 - what this process itself wrote

    def close(self) -> None:
        """Give the temporary file back."""
        if self._file is not None:
            self._file.close()
