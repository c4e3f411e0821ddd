"""A thread written into a file of its own: its events, one a line, in canonical form.

Such a file is what `counterfoil check` reads as a thread of our own.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from counterfoil.core.errors import ConflictError, NotFoundError, UnavailableError
from counterfoil.core.events import Event
from counterfoil.wire.events import encode_event


def save_events(events: Iterable[Event], name: str) -> int:
    """Write `events` into the new file `name`, for its owner alone; return how many.

    Raises:
        ConflictError: There is something of that name; it is left as it is.
        NotFoundError: The name cannot be that of a file here.
        UnavailableError: The file cannot be written; nothing is left of it.
    """
    path = _path(name)
    written = 0
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise ConflictError(f"{name!r} exists", "a new file", "name another one") from error
    except OSError as error:
        raise NotFoundError(f"{name!r} cannot be made: {error.strerror}", "a new file") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            for event in events:
                file.write(encode_event(event) + b"\n")
                written += 1
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise UnavailableError(f"{name!r} cannot be written: {error.strerror}") from error
        raise
    return written


def _path(name: str) -> Path:
    if not name or "\0" in name:
        raise NotFoundError("no file is named", "", "write /save FILE")
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise NotFoundError(f"no home for {name!r}", "a path") from error
