"""The end of what a server writes to standard error: why it could not be started."""

import os
from contextlib import suppress
from threading import Thread
from typing import TextIO

_KEPT = 4096


class LastWords:
    """A file to write to, of which the end is kept; it never blocks who writes."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.file: TextIO = os.fdopen(writing, "w", encoding="utf-8")
        self._end = b""
        self._reading = reading
        self._thread = Thread(target=self._read, name="mcp-stderr", daemon=True)
        self._thread.start()

    def last_line(self) -> str:
        """Return the last line that is not blank, empty where there is none."""
        lines = self._end.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """Close our end; what a server still writes is read until it ends."""
        with suppress(OSError):
            self.file.close()
        self._thread.join(1)

    def _read(self) -> None:
        with os.fdopen(self._reading, "rb", buffering=0) as file:
            while piece := file.read(_KEPT):
                self._end = (self._end + piece)[-_KEPT:]
