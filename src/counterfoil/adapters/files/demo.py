"""A small example: four runs in a line, a shared store, and a citation that means two pages.

`measure` is the first run, `fit` builds on it, `refit` does the fit again, and `report`
cites the slope: that of `fit`, or that of `refit`?
"""

from pathlib import Path

from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.adapters.files.run_lineage import FileLineage
from counterfoil.adapters.files.run_places import FileRunPlaces
from counterfoil.adapters.files.scaffold import init_store
from counterfoil.adapters.files.transactions import apply_changes
from counterfoil.core.errors import ConflictError, NotFoundError
from counterfoil.core.ids import RunId
from counterfoil.core.knowledge.changes import ABSENT, FileChange, StorePath
from counterfoil.engine.run_stores import Runs

_UNITS = """\
---
id: units
title: Units
tags: [convention]
---

Lengths are in metres, times in seconds.
"""

_SAMPLES = """\
---
id: samples
title: Samples of March
cites: shared::units
tags: [data]
---

Forty samples, taken on three days. Units are those of [[shared::units]].
"""

_SLOPE = """\
---
id: slope
title: Slope of the first fit
cites: samples
tags: [result]
---

The slope is 0.913, from all forty samples.
"""

_SLOPE_AGAIN = """\
---
id: slope
title: Slope without the outliers
cites:
  - samples
  - inherited:fit::slope
tags: [result]
---

Without the two outliers the slope is 0.887; see [[inherited:fit::slope]] for the first fit.
"""

_REPORT = """\
---
id: report
title: What we found
cites:
  - samples
  - slope
tags: [report]
---

The slope, in [[shared::units]], is what the plan expected.
"""

_RUNS: tuple[tuple[str, str | None, str, str], ...] = (
    ("measure", None, "samples.md", _SAMPLES),
    ("fit", "measure", "slope.md", _SLOPE),
    ("refit", "fit", "slope.md", _SLOPE_AGAIN),
    ("report", "refit", "report.md", _REPORT),
)


def make_demo(directory: Path, now: str) -> None:
    """Make the example in `directory`, which is not there yet, or empty.

    Raises:
        ConflictError: Something is in the directory.
        UnavailableError: It cannot be written.
    """
    if directory.exists() and any(directory.iterdir()):
        raise ConflictError(
            f"{directory} is not empty", "a directory that is not there yet", "name another"
        )
    _make_store(directory / "shared", "units.md", _UNITS)
    places = FileRunPlaces(directory / "runs")
    runs = Runs(places, FileLineage(places, lambda: now))
    for run, parent, name, text in _RUNS:
        runs.init(run, parent)
        found = places.find(RunId(run))
        if found is None:
            raise NotFoundError(f"the store of run {run!r} is gone", "the one just made")
        _write(found, name, text)


def _make_store(root: Path, name: str, text: str) -> None:
    init_store(root)
    _write(root, name, text)


def _write(store: Path, name: str, text: str) -> None:
    with StoreRoot(store) as root:
        path = StorePath(f"{root.pages}/{name}")
        change = FileChange(path=path, after=text.encode(), expected=ABSENT)
        apply_changes(root, [change], purpose="the demo")
