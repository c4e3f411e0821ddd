"""The URIs of resources: `counterfoil://threads/t1/entries?page=2`.

Percent signs are decoded once, each part by itself, so that what is decoded is never
split; a part that is no id is refused where the id is made.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from counterfoil.core.errors import NotFoundError

SCHEME: Final = "counterfoil://"
_LONGEST = 1024
_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A URI taken apart: its parts in order, and the numbers behind the question mark."""

    uri: str
    parts: tuple[str, ...]
    page: int | None = None
    turn: int | None = None

    @property
    def base(self) -> str:
        """The URI without its page, to which another can be added."""
        path = self.uri.partition("?")[0]
        return path if self.turn is None else f"{path}?turn={self.turn}"

    def at_page(self, page: int) -> str:
        """Return the URI of another page."""
        return f"{self.base}{'?' if self.turn is None else '&'}page={page}"


def parse_address(uri: str) -> Address:
    """Return what `uri` names.

    Raises:
        NotFoundError: No resource here has a URI of that form.
    """
    if len(uri) > _LONGEST or not uri.startswith(SCHEME) or "#" in uri:
        raise no_resource(uri)
    path, mark, query = uri.removeprefix(SCHEME).partition("?")
    parts = tuple(_decoded(part, uri) for part in path.split("/"))
    numbers = _numbers(query, uri) if mark else {}
    return Address(uri=uri, parts=parts, page=numbers.get("page"), turn=numbers.get("turn"))


def number(text: str, what: str) -> int:
    """Return the whole number from 1 that `text` is.

    Raises:
        NotFoundError: It is none.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS and int(text)):
        raise NotFoundError(f"{what} {text!r}", "a whole number from 1")
    return int(text)


def no_resource(uri: str) -> NotFoundError:
    """Return the error for a URI that names nothing here."""
    shown = uri if len(uri) <= _LONGEST else f"{uri[:_LONGEST]}…"
    return NotFoundError(
        f"no resource {shown!r}", "a URI that resources/list or resources/templates/list names"
    )


def _decoded(part: str, uri: str) -> str:
    try:
        decoded = unquote(part, errors="strict")
    except UnicodeDecodeError:
        raise no_resource(uri) from None
    if not decoded:
        raise no_resource(uri)
    return decoded


def _numbers(query: str, uri: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for pair in query.split("&"):
        name, _, text = pair.partition("=")
        if name not in {"page", "turn"} or name in found:
            raise no_resource(uri)
        found[name] = number(text, name)
    return found
