"""The write counter of a store: another number whenever a transaction has been decided.

It is written in place and not synced: nobody who compared two of its values outlives
the machine. What it holds is compared as bytes, and of any form.
"""

import os

from counterfoil.adapters.files.disk import NO_FOLLOW, NOT_BLOCKING, faults_of
from counterfoil.adapters.files.paths import StoreRoot, require_file
from counterfoil.core.knowledge.changes import KEPT

_NAME = "epoch"
_PATH = f"{KEPT}/{_NAME}"
_FLAGS = os.O_WRONLY | os.O_CREAT | NO_FOLLOW | NOT_BLOCKING
_DIGITS = 20


def epoch(root: StoreRoot) -> bytes | None:
    """Return what the counter holds; `None` where nothing was ever counted."""
    return root.read(_PATH)


def count_up(root: StoreRoot) -> None:
    """Make the counter hold what it did not hold before; the lock is the caller's."""
    found = epoch(root) or b""
    number = int(found) + 1 if found.strip().isdigit() else 1
    with root.directory(KEPT) as at, faults_of(_PATH):
        require_file(_NAME, at=at, called=_PATH)
        file = os.open(_NAME, _FLAGS, 0o666, dir_fd=at)
        try:
            root.disk.write(file, f"{number % 10**_DIGITS:0{_DIGITS}}\n".encode())
        finally:
            os.close(file)
