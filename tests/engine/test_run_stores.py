"""`init` checks everything before it makes anything, whoever keeps the parents."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

import pytest

from counterfoil.core.errors import (
    ConflictError,
    CounterfoilError,
    InvalidIdError,
    LineageConflictError,
    NotFoundError,
    UnavailableError,
)
from counterfoil.core.ids import RunId
from counterfoil.core.knowledge.lineage import folded
from counterfoil.engine.run_stores import Runs
from counterfoil.ports.lineage import LineageAuthority, UnfinishedStore
from counterfoil.testing.lineage import MemoryLineage

A, B, C = map(RunId, "abc")


class Places:
    """Places in a list, which say what was done to them.

    Before a store is finished each of `meanwhile` is called once; then it is too late.
    """

    def __init__(self, *there: str, meanwhile: tuple[Callable[[], object], ...] = ()) -> None:
        self.there = list(there)
        self.said: list[str] = []
        self.meanwhile = list(meanwhile)

    def runs(self) -> tuple[RunId, ...]:
        return tuple(sorted(map(RunId, self.there)))

    def rival_of(self, spelling: str) -> str | None:
        same = (name for name in self.there if folded(name) == folded(spelling))
        return next((name for name in same if name != spelling), None)

    def is_finished(self, run: RunId) -> bool:
        return run in self.there

    @contextmanager
    def to_oneself(self) -> Generator[None, None, None]:
        self.said.append("alone")
        yield
        self.said.append("done")

    @contextmanager
    def unfinished(self, spelling: str) -> Generator[UnfinishedStore, None, None]:
        self.said.append(f"begin {spelling}")
        yield Unfinished(self, spelling)


class Unfinished:
    """A store of `Places`."""

    def __init__(self, places: Places, spelling: str) -> None:
        self.places = places
        self.spelling = spelling

    def add(self, path: str, content: bytes) -> bool:
        self.places.said.append(f"add {path} to {self.spelling}")
        return bool(content)

    def finish(self) -> bool:
        if self.places.meanwhile:
            self.places.meanwhile.pop(0)()
            self.places.said.append(f"lose {self.spelling}")
            return False
        self.places.said.append(f"finish {self.spelling}")
        self.places.there.append(self.spelling)
        return True


class Stored(MemoryLineage):
    """Keeps records in stores."""

    def record_in(self, store: UnfinishedStore, run: RunId, parent: RunId | None) -> None:
        store.add("lineage", b"x")
        self.record(run, parent)


class ReadOnly:
    """Knows parents and is never told any."""

    def __init__(self, parents: Mapping[RunId, RunId | None]) -> None:
        self.parent_of = MemoryLineage(parents).parent_of


class Failing(MemoryLineage):
    """Records nothing."""

    def record(self, run: RunId, parent: RunId | None) -> None:
        raise UnavailableError(f"{run}, {parent}")


def _id(text: str | None) -> RunId | None:
    return None if text is None else RunId(text)


def test_a_store_is_built_then_recorded_then_finished() -> None:
    """run-stores: Whoever keeps the parents; a store is begun when all is checked."""
    for authority, added in ((MemoryLineage(), []), (Stored(), ["add lineage to a"])):
        places = Places()
        Runs(places, authority).init("a")
        assert places.said == ["alone", "begin a", *added, "finish a", "done"]
        assert authority.parent_of(A) is None


def test_the_same_init_again_makes_nothing() -> None:
    """run-stores: `init` is idempotent; what is recorded and there stays as it is."""
    places = Places("a", "b")
    Runs(places, MemoryLineage({A: None, B: A})).init("b", "a")
    assert places.said == ["alone", "done"]


def test_a_parent_recorded_without_a_store_is_completed() -> None:
    """run-stores: A process that died between the two left a parent; it is not recorded again."""
    places = Places("a")
    Runs(places, Failing({A: None, B: A})).init("b", "a")
    assert places.said == ["alone", "begin b", "finish b", "done"]


def test_a_store_without_a_record_is_completed() -> None:
    """run-stores: A directory that was there before becomes the run's store."""
    places, authority = Places("a"), MemoryLineage()
    Runs(places, authority).init("a")
    assert places.said == ["alone", "begin a", "finish a", "done"]
    assert authority.parent_of(A) is None


@pytest.mark.parametrize(
    ("run", "parent", "error"),
    [
        ("a/b", None, InvalidIdError),
        ("b", "..", InvalidIdError),
        ("A", None, ConflictError),
        ("b", None, LineageConflictError),
        ("a", "c", LineageConflictError),
        ("d", "d", LineageConflictError),
        ("x", "y", LineageConflictError),
        ("d", "nobody", NotFoundError),
        ("d", "orphan", NotFoundError),
    ],
)
@pytest.mark.parametrize("kind", [MemoryLineage, Stored, ReadOnly])
def test_what_is_refused_is_refused_before_anything_is_begun(
    kind: Callable[[Mapping[RunId, RunId | None]], LineageAuthority],
    run: str,
    parent: str | None,
    error: type[CounterfoilError],
) -> None:
    """ancestor-faults: G14: for every authority, and nothing is recorded either."""
    known: dict[str, str | None] = {"a": None, "b": "a", "c": "b", "orphan": "gone", "y": "x"}
    parents = {RunId(of): _id(named) for of, named in known.items()}
    if kind is ReadOnly and run in {"d", "x"}:
        parents[RunId(run)] = _id(parent)  # agreement is not enough
    places, authority = Places("a", "b", "c"), kind(parents)
    with pytest.raises(error):
        Runs(places, authority).init(run, parent)
    assert [said for said in places.said if said != "alone"] == []
    asked = [RunId(of) for of in known]
    assert [authority.parent_of(of) for of in asked] == [parents[of] for of in asked]
    with pytest.raises(NotFoundError):
        authority.parent_of(RunId("nobody"))


@pytest.mark.parametrize("parent", ["nobody", "orphan"])
def test_an_unknown_ancestor_is_taken_where_it_is_allowed(parent: str) -> None:
    """run-stores: In an import a child can come before its parent; a reader still says so."""
    authority = MemoryLineage({RunId("orphan"): RunId("gone")})
    stores = Runs(Places(), authority)
    stores.init("a", parent, allow_unknown_parent=True)
    assert stores.parent_of("a") == parent
    assert stores.runs() == ("a",)
    with pytest.raises(NotFoundError):
        stores.lineage("a")


def test_an_unknown_parent_that_is_allowed_closes_no_cycle() -> None:
    """run-stores: What is allowed is a parent that nobody knows, nothing else."""
    places = Places()
    with pytest.raises(LineageConflictError, match="'x' → 'a' → 'x'"):
        Runs(places, MemoryLineage({A: RunId("x")})).init("x", "a", allow_unknown_parent=True)
    assert places.said == ["alone"]


def test_a_read_only_authority_must_know_the_run() -> None:
    """run-stores: Somebody else's manifest owns ancestry; nobody adds to it here."""
    places = Places()
    with pytest.raises(NotFoundError, match="no run 'b'"):
        Runs(places, ReadOnly({A: None})).init("b", allow_unknown_parent=True)
    Runs(places, ReadOnly({A: None, B: A})).init("b", "a")
    assert places.there == ["b"]


def test_who_comes_second_takes_what_the_first_has_made() -> None:
    """run-stores: A store that somebody finished meanwhile is the store, if parents agree."""
    places, authority = Places("a"), MemoryLineage({A: None})
    places.meanwhile.append(lambda: places.there.append("b"))
    Runs(places, authority).init("b", "a")
    assert places.said == ["alone", "begin b", "lose b", "done"]
    assert (authority.parent_of(B), places.there) == (A, ["a", "b"])


def test_who_comes_second_with_another_parent_is_refused() -> None:
    """run-stores: All is asked anew after a race that was lost."""
    parents = {A: None, C: None}
    places, authority = Places("a", "c"), ReadOnly({**parents, B: A})
    stores = Runs(places, authority)

    def another() -> None:
        stores.authority = ReadOnly({**parents, B: C})
        places.there.append("b")

    places.meanwhile.append(another)
    with pytest.raises(LineageConflictError, match="has the parent 'c', and parent 'a' was given"):
        stores.init("b", "a")


def test_a_parent_that_cannot_be_recorded_finishes_no_store() -> None:
    """run-stores: What was built for it is left unfinished, to be removed."""
    places = Places()
    with pytest.raises(UnavailableError):
        Runs(places, Failing()).init("a")
    assert (places.there, places.said) == ([], ["alone", "begin a"])


def test_the_bound_is_that_of_readers_and_is_weighed_when_it_is_set() -> None:
    """lineage: A run may be made past the bound of a reader, who then refuses it."""
    stores = Runs(Places(), MemoryLineage(), max_ancestors=1)
    stores.init("a")
    stores.init("b", "a")
    stores.init("c", "b")
    assert stores.lineage("b") == ("a",)
    with pytest.raises(ConflictError, match="more than 1 ancestors"):
        stores.lineage("c")
    with pytest.raises(CounterfoilError, match="max_ancestors is -1"):
        Runs(Places(), MemoryLineage(), max_ancestors=-1)


def test_ids_are_refused_at_every_door() -> None:
    """ancestor-faults: G5: also where they are only asked for."""
    stores = Runs(Places(), MemoryLineage())
    for ask in (stores.parent_of, stores.lineage, stores.init):
        with pytest.raises(InvalidIdError):
            ask("../evil")
