"""The suites that every `LineageAuthority` passes, ours or a stranger's, and one in memory.

A check takes a function that makes a new authority which knows the parents given to it:
for one that records, by recording them; for one that is only read, by writing what it
reads. It raises `AssertionError` with the promise that was not kept. With pytest:

```python
@pytest.mark.parametrize("check", lineage.AUTHORITY, ids=lambda check: check.__name__)
def test_my_authority_conforms(check, tmp_path):
    check(lambda parents: my_authority(tmp_path / "manifest", parents))
```

Parents come before their children in what is given. That an authority lasts longer than
its process, and that two processes cannot record two parents of one run, is promised as
well but is not checked here: only the adapter knows how to start another process.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Lock

from counterfoil.core.errors import LineageConflictError, NotFoundError
from counterfoil.core.ids import RunId
from counterfoil.core.knowledge.lineage import lineage_of, require_parent
from counterfoil.ports.lineage import LineageAuthority, RecordingLineageAuthority

Parents = Mapping[RunId, RunId | None]
Make = Callable[[Parents], LineageAuthority]
MakeRecording = Callable[[Parents], RecordingLineageAuthority]

_ALPHA, _BETA, _GAMMA, _UPPER = RunId("alpha"), RunId("beta"), RunId("gamma"), RunId("ALPHA")


class MemoryLineage:
    """A `RecordingLineageAuthority` that threads may share and that ends with the process."""

    def __init__(self, parents: Parents | None = None) -> None:
        """Know `parents` from the beginning."""
        self._parents = dict(parents or {})
        self._lock = Lock()

    def parent_of(self, run: RunId) -> RunId | None:
        """Return the parent of `run`, or `None` for a run that is recorded without one.

        Raises:
            NotFoundError: Nothing is recorded of `run`.
        """
        try:
            return self._parents[run]
        except KeyError:
            raise NotFoundError(
                f"no run {str(run)!r}", "a run that is recorded", "letter case counts"
            ) from None

    def record(self, run: RunId, parent: RunId | None) -> None:
        """Record the parent of `run`; the first one stays.

        Raises:
            LineageConflictError: Another parent is recorded.
        """
        with self._lock:
            require_parent(run, self._parents.setdefault(run, parent), parent)


def _same(found: object, expected: object, promise: str) -> None:
    if found != expected:
        raise AssertionError(f"{promise}: found {found!r}, expected {expected!r}")


def _require_unknown(authority: LineageAuthority, run: RunId, promise: str) -> None:
    try:
        found = authority.parent_of(run)
    except NotFoundError as error:
        if str(run) not in error.diagnosis():
            raise AssertionError(f"{promise}, naming the run: {error}") from error
    else:
        raise AssertionError(f"{promise}: found {found!r}, no NotFoundError was raised")


def an_unknown_run_is_not_found(make: Make) -> None:
    """A run that nothing is known of is an error; it is not a run without a parent."""
    _require_unknown(make({}), _ALPHA, "a new authority knows no run")
    _require_unknown(make({_ALPHA: None}), _BETA, "another run is unknown")


def parents_are_those_that_were_given(make: Make) -> None:
    """`parent_of` returns the parent, `None` for none, and the same again."""
    parents = {_ALPHA: None, _BETA: _ALPHA, _GAMMA: _ALPHA}
    authority = make(parents)
    for _ in range(2):
        _same({run: authority.parent_of(run) for run in parents}, parents, "the parents given")


def letter_case_counts(make: Make) -> None:
    """A run in another letter case is another run, and unknown; there is no nearest."""
    authority = make({_ALPHA: None, _BETA: _ALPHA})
    _require_unknown(authority, _UPPER, "letter case counts")
    _same(authority.parent_of(_BETA), _ALPHA, "a parent is spelled as it was given")


def any_run_id_will_do(make: Make) -> None:
    """What a run can be called survives, whatever it means elsewhere."""
    parents: dict[RunId, RunId | None] = {}
    last: RunId | None = None
    for text in _ODD:
        parents[RunId(text)] = last
        last = RunId(text)
    authority = make(parents)
    _same({run: authority.parent_of(run) for run in parents}, parents, "odd ids survive")


def asking_teaches_nothing(make: Make) -> None:
    """An unknown run stays unknown, however often it is asked for."""
    authority = make({_ALPHA: None})
    for _ in range(2):
        _require_unknown(authority, _BETA, "asking for a run does not make it known")
    _same(authority.parent_of(_ALPHA), None, "asking for another run changes nothing")


def a_lineage_is_read_to_its_end(make: Make) -> None:
    """A hundred ancestors are all there, nearest first."""
    runs = [RunId(f"run-{number}") for number in range(101)]
    authority = make(dict(zip(runs, [None, *runs], strict=False)))
    _same(list(lineage_of(runs[-1], authority.parent_of)), runs[-2::-1], "the whole lineage")


def what_is_recorded_is_known(make: MakeRecording) -> None:
    """A recorded run has its parent at once."""
    authority = make({})
    authority.record(_ALPHA, None)
    authority.record(_BETA, _ALPHA)
    _same(authority.parent_of(_ALPHA), None, "a run recorded without a parent")
    _same(authority.parent_of(_BETA), _ALPHA, "a run recorded with a parent")


def recording_again_changes_nothing(make: MakeRecording) -> None:
    """The same parent may be recorded again, and none for a run without."""
    authority = make({_ALPHA: None, _BETA: _ALPHA})
    for _ in range(2):
        authority.record(_BETA, _ALPHA)
        authority.record(_ALPHA, None)
    _same(authority.parent_of(_BETA), _ALPHA, "the same parent again")
    _same(authority.parent_of(_ALPHA), None, "no parent again")


def the_first_parent_stays(make: MakeRecording) -> None:
    """Another parent is refused, naming both; so is one for none, and none for one."""
    authority = make({_ALPHA: None, _GAMMA: None, _BETA: _ALPHA})
    _require_conflict(authority, _BETA, _GAMMA, "'alpha'", "'gamma'")
    _require_conflict(authority, _BETA, None, "'alpha'")
    _require_conflict(authority, _GAMMA, _ALPHA, "'alpha'")
    _same(authority.parent_of(_BETA), _ALPHA, "the first parent stays")
    _same(authority.parent_of(_GAMMA), None, "no parent stays none")


def a_refusal_is_not_remembered(make: MakeRecording) -> None:
    """After a refusal the right call succeeds."""
    authority = make({_ALPHA: None, _GAMMA: None, _BETA: _ALPHA})
    with suppress(LineageConflictError):
        authority.record(_BETA, _GAMMA)
    authority.record(_BETA, _ALPHA)
    authority.record(RunId("delta"), _BETA)
    _same(authority.parent_of(RunId("delta")), _BETA, "recording goes on after a refusal")


def _require_conflict(
    authority: RecordingLineageAuthority, run: RunId, parent: RunId | None, *named: str
) -> None:
    promise = f"another parent of {str(run)!r} is refused"
    try:
        authority.record(run, parent)
    except LineageConflictError as error:
        said = error.diagnosis()
        missing = [name for name in (repr(str(run)), *named) if name not in said]
        _same(missing, [], f"{promise}, naming both")
    else:
        raise AssertionError(f"{promise}: no LineageConflictError was raised")


_ODD = (
    "...",
    "..alpha",
    "a b",
    "a::b",
    "C:run",
    "%2e%2e",
    "~",
    "-r",
    'quote"d',
    "naïve",
    "№ 7 → 8",
    "r" * 128,
)

AUTHORITY: tuple[Callable[[Make], None], ...] = (
    an_unknown_run_is_not_found,
    parents_are_those_that_were_given,
    letter_case_counts,
    any_run_id_will_do,
    asking_teaches_nothing,
    a_lineage_is_read_to_its_end,
)
"""Every check of a `LineageAuthority`, read-only or not."""

RECORDING: tuple[Callable[[MakeRecording], None], ...] = (
    what_is_recorded_is_known,
    recording_again_changes_nothing,
    the_first_parent_stays,
    a_refusal_is_not_remembered,
)
"""Every further check of a `RecordingLineageAuthority`."""
