"""Where the bytes of a transcript come from: a file, standard input, a compressed file."""

import io
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol

from counterfoil.core.errors import NotFoundError, UnreadableError

_BUFFER = 1 << 20
_ZSTD = b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True, slots=True)
class Source:
    """Bytes that can be read from the start as often as asked; nothing is ever written.

    `name` is how the source was named, `path` the file it is, and `None` where the
    bytes were spooled; `stem` names a thread that names itself nowhere.
    """

    name: str
    path: Path | None
    stem: str
    open: Callable[[], BinaryIO]


def open_file(name: str, on_read: Callable[[int], None] | None = None) -> Source:
    """Return the file `name` as a source; a `.zst` one is decompressed into a spool.

    `on_read` is told how many bytes each read of the file brought.

    Raises:
        NotFoundError: There is no such file.
        UnreadableError: It is no regular file, or may not be read.
    """
    path = Path(name)
    try:
        mode = path.stat().st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
            with path.open("rb") as file:
                return spooled(name, file, stem=path.stem)
        if not stat.S_ISREG(mode):
            raise UnreadableError(f"{name!r} is no regular file", "a session file")
        with path.open("rb", buffering=_BUFFER) as file:
            is_compressed = file.read(len(_ZSTD)) == _ZSTD
            file.seek(0)
            if is_compressed:
                return spooled(name, decompressed(name, file), stem=_stem(path))
    except FileNotFoundError as error:
        raise NotFoundError(f"no file {name!r}", "the path of a session file") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UnreadableError(f"{name!r} cannot be read: {reason}") from error
    if on_read is None:
        return Source(name, path, path.stem, lambda: path.open("rb", buffering=_BUFFER))
    return Source(name, path, path.stem, lambda: _watched(path, on_read))


def line_of(source: Source, number: int) -> bytes | None:
    """Return the bytes of line `number`, from 1; `None` past the end."""
    with source.open() as file:
        for at, line in enumerate(file, start=1):
            if at == number:
                return line
    return None


class _Watched(io.RawIOBase):
    """Tells how many bytes each read brought."""

    def __init__(self, raw: io.RawIOBase, on_read: Callable[[int], None]) -> None:
        self._raw = raw
        self._on_read = on_read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - the base class takes any buffer
        count = self._raw.readinto(buffer) or 0
        self._on_read(count)
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


def _watched(path: Path, on_read: Callable[[int], None]) -> BinaryIO:
    raw = path.open("rb", buffering=0)
    return io.BufferedReader(_Watched(raw, on_read), _BUFFER)


class Readable(Protocol):
    """Bytes that are read once, block by block."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, none at the end."""
        ...


def spooled(name: str, file: Readable, *, stem: str = "stdin") -> Source:
    """Return the bytes of `file`, copied into a nameless temporary file, as a source."""
    import tempfile  # noqa: PLC0415 - files are read where they lie

    spool = tempfile.TemporaryFile(prefix="counterfoil-", buffering=_BUFFER)  # noqa: SIM115 - lives as long as the source
    while block := file.read(_BUFFER):
        spool.write(block)
    spool.flush()
    return Source(name, None, stem, lambda: _again(spool))


def decompressed(name: str, file: BinaryIO) -> Readable:
    """Return the decompressed bytes of the Zstandard `file`."""
    zstd = _zstd()
    return _Zstandard(name, zstd.ZstdFile(file, "rb"), zstd.ZstdError)


def _zstd() -> Any:  # noqa: ANN401 - one module under two names, typed under one of them
    """Return the standard library's module, or its backport before Python 3.14."""
    from importlib import import_module  # noqa: PLC0415 - only compressed files need it

    try:
        return import_module("compression.zstd")
    except ImportError:
        return import_module("backports.zstd")


class _Zstandard:
    """Reads decompressed bytes; damage is an error that names the file."""

    def __init__(self, name: str, file: Readable, error: type[Exception]) -> None:
        self._name = name
        self._file = file
        self._error = error

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, none at the end."""
        try:
            return self._file.read(size)
        except (self._error, EOFError) as error:
            raise UnreadableError(
                f"{self._name!r} is damaged Zstandard data: {error}", "a whole .zst file"
            ) from error


def _again(spool: IO[bytes]) -> BinaryIO:
    """Open the spool anew: each reader has its own place in it."""
    file = os.fdopen(os.dup(spool.fileno()), "rb", buffering=_BUFFER)
    file.seek(0)
    return file


def _stem(path: Path) -> str:
    return path.stem.rpartition(".")[0] or path.stem
