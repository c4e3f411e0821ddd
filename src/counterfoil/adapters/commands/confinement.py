"""Where a command may write: real paths, fixed when the runner is made.

A path is what it is in the end, past its links. What is below a place where commands
write could be moved away by one of them, and something else put in its stead, for the
next command or for Counterfoil itself to take for the old. So each folder on the way from
such a place down to the home, or to another such place, is held where it is (`pinned`),
and a home that is reached through a link that a command could replace is refused.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from counterfoil.core.errors import ConflictError, NotFoundError, UnavailableError

_LINKS = 40
"""Links that are followed; a system follows no more either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """Where a command may write and what it reaches; no path has a link in it.

    `home` is that of Counterfoil where it lies below a writable place, else `None`: it
    is then out of reach like everything else.
    """

    writable: tuple[str, ...]
    pinned: tuple[str, ...] = ()
    home: str | None = None
    network: bool = True

    def moved(self) -> str | None:
        """Return a path that is not what it was any more, `None` while all are."""
        places = (*self.writable, *self.pinned, *((self.home,) if self.home else ()))
        return next((place for place in places if not _is_itself(place)), None)


def confinement_of(
    writable: Sequence[Path], home: Path, temporary: Iterable[Path], *, network: bool = True
) -> Confinement:
    """Return the confinement to the `writable` roots and those `temporary` ones there are.

    A home that does not exist yet is made where a command could make it else.

    Raises:
        NotFoundError: A writable root is no folder that exists.
        ConflictError: A writable root lies in the home, or a command could replace the home.
        UnavailableError: The home cannot be made.
    """
    real_home = os.path.realpath(home)
    roots = {_real_root(root, real_home) for root in writable}
    roots |= {
        real
        for real in map(os.path.realpath, temporary)
        if os.path.isdir(real) and not _is_below(real, real_home)  # noqa: PTH112 - as realpath
    }
    is_within = any(_is_below(real_home, root) for root in roots)
    _refuse_links(home, roots)
    if is_within:
        _make(real_home)
    held = (*roots, real_home) if is_within else tuple(roots)
    return Confinement(
        writable=tuple(sorted(roots)),
        pinned=tuple(sorted(_pinned(held, roots) - roots)),
        home=real_home if is_within else None,
        network=network,
    )


def _real_root(root: Path, home: str) -> str:
    if not os.path.isdir(root):  # noqa: PTH112 - a name with a NUL is none, too
        found = f"the writable root {str(root)!r} is no folder that exists"
        raise NotFoundError(found, "a folder", "make it, or take it off the list")
    real = os.path.realpath(root)
    if _is_below(real, home):
        found = f"the writable root {str(root)!r} lies in the home of Counterfoil, {home!r}"
        raise ConflictError(found, "a folder outside of it", "choose another root or home")
    return real


def _make(home: str) -> None:
    try:
        Path(home).mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UnavailableError(f"the home {home!r} cannot be made: {error}", "a folder") from error


def _refuse_links(home: Path, roots: Iterable[str]) -> None:
    for link in _links_on(str(home.absolute())):
        if any(_is_below(os.path.dirname(link), root) for root in roots):  # noqa: PTH120
            found = (
                f"the home {str(home)!r} is reached through {link!r}, a link in a writable place"
            )
            raise ConflictError(
                found, "a home that no command can replace", "name the folder itself as home"
            )


def _links_on(path: str) -> Iterator[str]:
    """Yield each link on the way from the absolute `path` to what it is, each as it is met."""
    here, left, met = "/", path.split("/")[::-1], 0
    while left and met < _LINKS:
        step = os.path.normpath(os.path.join(here, left.pop()))  # noqa: PTH118 - for `..`
        if not os.path.islink(step):  # noqa: PTH114
            here = step
            continue
        met += 1
        yield step
        target = os.readlink(step)  # noqa: PTH115 - the text of it
        here = "/" if target.startswith("/") else here
        left += target.split("/")[::-1]


def _pinned(places: Iterable[str], roots: Iterable[str]) -> set[str]:
    """Return the folders above the `places` that lie below a root."""
    return {
        str(folder)
        for place in places
        for folder in PurePath(place).parents
        if any(_is_below(str(folder), root) for root in roots)
    }


def _is_below(path: str, place: str) -> bool:
    """Say whether `path` is `place` or something in it."""
    return PurePath(path).is_relative_to(place)


def _is_itself(path: str) -> bool:
    return os.path.realpath(path) == path and os.path.exists(path)  # noqa: PTH110
