"""The tool `edit_file`: a file written, added to, or changed at exactly one place.

Bytes are compared and bytes are kept, so that what is not replaced stays as it was,
whatever its encoding. Where every line of a file ends with CRLF, so does what is put in.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple

from counterfoil.adapters.tools.answers import (
    UnusableArgumentError,
    answered,
    choice_in,
    parameters,
    quoted,
    text_in,
)
from counterfoil.adapters.tools.replacing import replace_file
from counterfoil.adapters.tools.roots import (
    Roots,
    Target,
    faults_of,
    holding,
    opened_file,
    opened_folder,
    require_file,
)
from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import ConflictError, CounterfoilError, NotFoundError, UnreadableError
from counterfoil.core.events import FileWritten
from counterfoil.core.messages import ToolSpec
from counterfoil.ports.tools import CallContext, ToolAnswer

MOST_BYTES = 16 * 1024 * 1024
"""Bytes of a file that is added to or changed; a larger one is refused."""

_MODES = ("write", "append", "replace")
_SHOWN_LINES = 10
_WRITABLE = 0o222


class _Before(NamedTuple):
    """The file before the edit, `None` for none; without `content` where it does not matter."""

    content: bytes
    file: os.stat_result | None


class EditFileTool:
    """The `Tool` that writes files below the writable roots."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self.spec = ToolSpec(
            name="edit_file",
            description=(
                "Writes a file whole, appends to it, or replaces the one place where old stands."
                f" Its folder must exist. Paths are below {roots.shown}."
            ),
            parameters=parameters(
                {
                    "path": {"type": "string", "description": "the file"},
                    "mode": {"type": "string", "enum": list(_MODES)},
                    "text": {"type": "string", "description": "what to write"},
                    "old": {
                        "type": "string",
                        "description": "with replace: what stands there now, once in the file",
                    },
                },
                "path",
                "mode",
                "text",
            ),
        )

    def run(self, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Return what was written, with the fact of it."""
        del context
        return answered(lambda: self._answer(arguments))

    def _answer(self, arguments: Mapping[str, object]) -> ToolAnswer:
        mode = choice_in(arguments, "mode", _MODES)
        old, text = _encoded(arguments, "old"), _encoded(arguments, "text")
        _require_meant(mode, old, text)
        target = self._roots.find(text_in(arguments, "path"))
        before = _before(target, mode)
        after = _edited(mode, before.content, old, text, target.shown)
        _replace(target, after, before.file)
        fact = FileWritten(
            path=target.shown,
            mode=mode,
            created=before.file is None,
            bytes_before=before.file.st_size if before.file else 0,
            bytes_after=len(after),
            digest_after=tagged_digest(after),
        )
        return ToolAnswer(output=_told(fact), facts=(fact,))


def _require_meant(mode: str, old: bytes, text: bytes) -> None:
    if mode != "replace":
        if old:
            raise UnusableArgumentError(f"old with mode {mode}", 'mode "replace"', "or no old")
    elif not old:
        raise UnusableArgumentError("replace without old", "the text that stands there now")
    elif old == text:
        raise UnusableArgumentError("old and text are the same", "another text")


def _before(target: Target, mode: str) -> _Before:
    above, name = holding(target)
    try:
        with opened_folder(above) as folder:
            found = require_file(target, name, folder)
    except NotFoundError as error:
        if mode == "replace":
            raise
        _require_folder(above, error)
        return _Before(b"", None)
    if not found.st_mode & _WRITABLE:
        raise UnreadableError(f"{quoted(target.shown)} is read-only", "a file that can be written")
    if mode == "write":
        return _Before(b"", found)
    with opened_file(target) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UnreadableError(
            f"{quoted(target.shown)} has more than {MOST_BYTES:,} bytes", "a smaller file"
        )
    return _Before(content, found)


def _require_folder(above: Target, error: CounterfoilError) -> None:
    try:
        with opened_folder(above):
            return
    except NotFoundError:
        raise NotFoundError(
            f"the folder of {quoted(above.shown)} is not there", "a folder", "make it first"
        ) from error


def _edited(mode: str, content: bytes, old: bytes, text: bytes, shown: str) -> bytes:
    if mode == "write":
        return text
    if _ends_with_crlf(content):
        old, text = _with_crlf(old), _with_crlf(text)
    if mode == "append":
        return content + text
    place = content.find(old)
    if place < 0:
        raise NotFoundError(f"old stands 0 times in {quoted(shown)}", "once", _near(content, old))
    if content.find(old, place + 1) >= 0:
        raise UnusableArgumentError(
            f"old stands {max(content.count(old), 2)} times in {quoted(shown)},"
            f" at {_places(content, old)}",
            "once",
            "give more of the lines around it",
        )
    return content[:place] + text + content[place + len(old) :]


def _ends_with_crlf(content: bytes) -> bool:
    """Say whether every line of `content` ends so."""
    crlf = content.count(b"\r\n")
    return crlf > 0 and crlf == content.count(b"\n")


def _with_crlf(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def _places(content: bytes, wanted: bytes) -> str:
    """Return the lines in which `wanted` begins, the first ten of them."""
    lines: list[int] = []
    place, line, counted = content.find(wanted), 1, 0
    while place >= 0 and len(lines) <= _SHOWN_LINES:
        line += content.count(b"\n", counted, place)
        counted = place
        lines.append(line)
        place = content.find(wanted, place + 1)
    shown = ", ".join(f"{line:,}" for line in lines[:_SHOWN_LINES])
    more = " and others" if len(lines) > _SHOWN_LINES else ""
    return f"line{'s' if len(lines) > 1 else ''} {shown}{more}"


def _near(content: bytes, old: bytes) -> str:
    """Say where the first line of `old` stands, which is where the rest differs."""
    first = next((line.strip() for line in old.splitlines() if line.strip()), b"")
    if first and first in content:
        return f"its first line stands at {_places(content, first)}; read_file shows what follows"
    return "read_file shows what the file holds; copy old from there, without line numbers"


def _replace(target: Target, content: bytes, before: os.stat_result | None) -> None:
    """Make `content` what the file holds, if nobody changed it meanwhile."""
    above, name = holding(target)
    with opened_folder(above) as folder:
        try:
            found = require_file(target, name, folder)
        except NotFoundError:
            found = None
        if _state(found) != _state(before):
            raise ConflictError(
                f"{quoted(target.shown)} was changed meanwhile", advice="read it again, then edit"
            )
        with faults_of(target.shown):
            replace_file(folder, name, content, found)


def _state(found: os.stat_result | None) -> tuple[int, ...]:
    """Return what differs once a file was written by anybody."""
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns) if found else ()


def _encoded(arguments: Mapping[str, object], name: str) -> bytes:
    try:
        return text_in(arguments, name).encode()
    except UnicodeEncodeError as error:
        raise UnusableArgumentError(f"{name} holds half a character", "a text") from error


def _told(fact: FileWritten) -> str:
    if fact.created:
        return f"created {quoted(fact.path)}: {fact.bytes_after or 0:,} bytes"
    done = {"write": "wrote", "append": "appended to", "replace": "replaced one place in"}
    return (
        f"{done[fact.mode]} {quoted(fact.path)}:"
        f" {fact.bytes_before or 0:,} bytes before, {fact.bytes_after or 0:,} after"
    )
