"""The folder of an index: made with everything above it, and reached through no link.

A store may come from anybody, so that nothing in it decides where else is written.
"""

import shutil
from pathlib import Path

from counterfoil.core.errors import UnavailableError

_ABOVE = (".counterfoil", "search")
_IGNORED = ".gitignore"


def made_folder(root: Path, name: str) -> Path:
    """Return the folder of the index `name` in the store at `root`, which is there now.

    Raises:
        UnavailableError: It cannot be made, or a link is on the way to it.
    """
    folder = root
    try:
        for part in (*_ABOVE, name):
            folder /= part
            if folder.is_symlink():
                raise UnavailableError(
                    f"{folder} is a symbolic link", "a folder", "take it away: it is a cache"
                )
            folder.mkdir(exist_ok=True)
        ignored = root.joinpath(*_ABOVE, _IGNORED)
        if not ignored.is_symlink() and not ignored.exists():
            ignored.write_text("*\n")
    except OSError as error:
        raise UnavailableError(f"no search index in {folder}: {error.strerror}") from error
    return folder


def without_folder(root: Path, name: str) -> None:
    """Take the folder of the index `name` away, as far as that can be done."""
    folder = root.joinpath(*_ABOVE, name)
    shutil.rmtree(folder, ignore_errors=True)
