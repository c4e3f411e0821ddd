"""The layers of configuration that this machine has: files and variables."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from counterfoil.core.errors import UnreadableError
from counterfoil.core.settings import Layer

_PREFIX = "COUNTERFOIL_"
_NOT_KEYS = frozenset({"COUNTERFOIL_HOME", "COUNTERFOIL_STORE"})


def layers(directory: Path, environment: Mapping[str, str]) -> Iterator[Layer]:
    """Yield the layers that hold in `directory`, the weakest first.

    Raises:
        UnreadableError: A file is there and is no TOML.
    """
    project = find_upwards(directory, "counterfoil.toml")
    for path in (project, home(environment) / "config.toml"):
        if path is not None and path.is_file():
            yield Layer(str(path), _read(path), is_project=path is project)
    said = {
        name.removeprefix(_PREFIX).lower(): value
        for name, value in sorted(environment.items())
        if name.startswith(_PREFIX)
        and name not in _NOT_KEYS
        and not name.startswith("COUNTERFOIL__")
    }
    if said:
        yield Layer("environment", said)


def home(environment: Mapping[str, str]) -> Path:
    """Return the home of the program: `$COUNTERFOIL_HOME`, else the platform's place."""
    said = environment.get("COUNTERFOIL_HOME")
    if said:
        return Path(said)
    base = environment.get("XDG_DATA_HOME")
    if os.name == "nt":
        base = environment.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".local" / "share") / "counterfoil"


def find_upwards(directory: Path, name: str) -> Path | None:
    """Return the file `name` in `directory` or the nearest folder above that has one."""
    for folder in (directory, *directory.parents):
        if (folder / name).is_file():
            return folder / name
    return None


def _read(path: Path) -> Mapping[str, object]:
    import tomllib  # noqa: PLC0415 - most folders have no such file

    try:
        return cast("dict[str, object]", tomllib.loads(path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UnreadableError(f"{path} is no TOML: {error}", "TOML in UTF-8") from error
