"""The clock of this machine."""

import time
from datetime import UTC, datetime


def nanoseconds() -> int:
    """Return the time as file systems have it: nanoseconds since 1970."""
    return time.time_ns()


def instant() -> str:
    """Return the time as RFC 3339 UTC, with milliseconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
