"""Stores of pages on a disk, for tests: written, opened and linted as the program does."""

import base64
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from counterfoil.adapters.files.opening import OpenedIndexes
from counterfoil.adapters.files.run_lineage import FileLineage
from counterfoil.adapters.files.run_places import FileRunPlaces
from counterfoil.core.ids import HERE, SHARED, Origin, RunId
from counterfoil.core.knowledge.findings import LintReport
from counterfoil.engine.chains import VisibleStores, visible_stores
from counterfoil.engine.lint_stores import lint_stores

LATER = 4_000_000_000 * 10**9
"""A time at which every file has long been settled."""

Files = Mapping[str, Any]


def write_files(root: Path, files: Files) -> None:
    """Write texts, `{base64}` bytes and `{symlink}` targets below `root`."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_bytes(content.encode("utf-8", "surrogatepass"))
        elif isinstance(content, bytes):
            path.write_bytes(content)
        elif "base64" in content:
            path.write_bytes(base64.b64decode(content["base64"]))
        else:
            path.symlink_to(content["symlink"])


def _now() -> int:
    return LATER


@contextmanager
def opened(root: Path, run: str | None = None, *, is_kept: bool = True) -> Generator[VisibleStores]:
    """Have a store open, or all that a run below `root/runs` sees, with `root/shared`.

    Where `is_kept` is false, no index is looked at or written.
    """
    with ExitStack() as closing:
        indexes = OpenedIndexes(closing, pages="knowledge", now=_now, is_kept=is_kept)
        if run is None:
            yield VisibleStores(run=None, stores={HERE: indexes.at(root)})
            return
        places = FileRunPlaces(root / "runs")
        shared = root / "shared"
        yield visible_stores(
            RunId(run),
            FileLineage(places, lambda: "2026-03-01T09:00:00.000Z"),
            lambda one: indexes.of_run(places, one),
            shared=indexes.at(shared) if shared.is_dir() else None,
        )


def lint(root: Path, run: str | None = None, *, is_kept: bool = True) -> LintReport:
    """Lint a store, or a run, as it is now."""
    with opened(root, run, is_kept=is_kept) as visible:
        return lint_stores(visible)


def places(run: str) -> dict[Origin, str]:
    """Return what stands before the paths of the origins that have one, seen from `run`."""
    return {HERE: f"runs/{run}/knowledge-base/", SHARED: "shared/"}


def place(origin: Origin, run: str | None) -> str:
    """Return what stands before the paths of a store in the files of a test."""
    if run is None:
        return ""
    if origin == SHARED:
        return "shared/"
    return f"runs/{origin.run or run}/knowledge-base/"
