"""What tantivy says went wrong, as one error of ours."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


class BrokenIndexError(Exception):
    """The files of an index are not what tantivy can use."""


@contextmanager
def faults_of(directory: Path) -> Generator[None, None, None]:
    """Let no fault of tantivy out but as a `BrokenIndexError` about `directory`.

    Where it meets bytes that it never wrote it may panic; a panic reaches Python as a
    `BaseException` of a class that cannot be imported.
    """
    try:
        yield
    except (ValueError, OSError) as error:
        raise BrokenIndexError(f"search index {directory}: {_first_line(error)}") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise BrokenIndexError(f"search index {directory}: {_first_line(error)}") from None


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
