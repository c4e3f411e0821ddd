"""The clock of this machine."""

import os
import time
from datetime import UTC, datetime

from counterfoil.core.ids import EventId


def nanoseconds() -> int:
    """Return the time as file systems have it: nanoseconds since 1970."""
    return time.time_ns()


def instant() -> str:
    """Return the time as RFC 3339 UTC, with milliseconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


class SystemClock:
    """The `Clock` of this machine; its ids are 64 random bits."""

    def now(self) -> str:
        """Return the time as RFC 3339 UTC, with milliseconds."""
        return instant()

    def monotonic(self) -> float:
        """Return seconds of a clock that never steps back."""
        return time.monotonic()

    def new_id(self) -> EventId:
        """Return an id that no event has."""
        return EventId(os.urandom(8).hex())
