"""Who holds a thread, among the users of one process."""

from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

from counterfoil.core.errors import ConflictError
from counterfoil.core.ids import ThreadId


class MemoryThreadLeases:
    """A `ThreadLeases` for a record that ends with the process."""

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._guard = Lock()

    @contextmanager
    def hold(self, thread: ThreadId) -> Generator[None, None, None]:
        """Hold `thread` until the context ends.

        Raises:
            ConflictError: Another holder has it.
        """
        name = thread.lower()
        with self._guard:
            if name in self._held:
                raise ConflictError(
                    f"thread {str(thread)!r} is held by this process", "a thread that nobody runs"
                )
            self._held.add(name)
        try:
            yield
        finally:
            with self._guard:
                self._held.discard(name)
