"""Ancestors of a run: nearest first, whole, or refused, with what is at fault named."""

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.core.errors import (
    ConflictError,
    CounterfoilError,
    InvalidIdError,
    LineageConflictError,
    NotFoundError,
)
from counterfoil.core.ids import RunId
from counterfoil.core.knowledge import lineage
from counterfoil.core.knowledge.lineage import (
    MOST_ANCESTORS,
    folded,
    lineage_of,
    require_ancestors,
    require_bound,
    require_parent,
    require_spelling,
    walk_ancestors,
)

A, B, C = map(RunId, "abc")
ids = st.sampled_from([A, B, C, RunId("d")])


def asking(parents: Mapping[RunId, RunId | None]) -> lineage.ParentOf:
    def parent_of(run: RunId) -> RunId | None:
        if run not in parents:
            raise NotFoundError(f"no run {str(run)!r}")
        return parents[run]

    return parent_of


def of_length(count: int) -> lineage.ParentOf:
    """Return who knows run `count` and its `count` ancestors."""
    return lambda run: RunId(str(int(run) - 1)) if int(run) else None


@pytest.mark.parametrize("most", [0, 1, 2, 64])
def test_a_lineage_at_its_bound_is_whole_and_one_over_is_refused(most: int) -> None:
    """lineage: At the bound, one under and one over; never cut."""
    if most:
        under = lineage_of(RunId(str(most - 1)), of_length(most), max_ancestors=most)
        assert under == tuple(str(n) for n in range(most - 2, -1, -1))
    at = lineage_of(RunId(str(most)), of_length(most), max_ancestors=most)
    assert at == tuple(str(n) for n in range(most - 1, -1, -1))
    with pytest.raises(
        ConflictError, match=f"run '{most + 1}' has more than {most} ancestors"
    ) as e:
        lineage_of(RunId(str(most + 1)), of_length(most), max_ancestors=most)
    assert not isinstance(e.value, LineageConflictError)
    assert "never cut" in e.value.advice


@pytest.mark.parametrize("allowed", [None, MOST_ANCESTORS, MOST_ANCESTORS + 1])
def test_a_lineage_without_a_bound_ends_at_the_ceiling(allowed: int | None) -> None:
    """lineage: An authority that makes parents up as it is asked does not hang a reader."""
    whole = lineage_of(RunId("100000"), of_length(0), max_ancestors=allowed)
    assert (len(whole), whole[0], whole[-1]) == (MOST_ANCESTORS, "99999", "0")
    assert len(lineage_of(RunId("99999"), of_length(0), max_ancestors=allowed)) == 99_999
    with pytest.raises(ConflictError, match="may never end"):
        lineage_of(RunId("100001"), of_length(0), max_ancestors=allowed)


def test_the_end_of_a_lineage_is_read_even_where_nothing_more_is_allowed() -> None:
    """lineage: Whether a chain of exactly the bound ends there is asked, not assumed."""
    asked: list[RunId] = []

    def parent_of(run: RunId) -> RunId | None:
        asked.append(run)
        return {A: B, B: None}[run]

    assert lineage_of(A, parent_of, max_ancestors=1) == (B,)
    assert asked == [A, B]


@pytest.mark.parametrize("bound", [-1, True])
def test_what_is_no_bound_is_refused(bound: int) -> None:
    """lineage: A bound is a whole number from 0."""
    with pytest.raises(CounterfoilError, match=f"max_ancestors is {bound}; expected a whole"):
        require_bound(bound)
    assert require_bound(0) == 0


@pytest.mark.parametrize(
    ("parents", "spelled"),
    [
        ({A: A}, "'a' goes round: 'a' → 'a'"),
        ({A: B, B: A}, "'a' goes round: 'a' → 'b' → 'a'"),
        ({A: B, B: C, C: B}, "'a' goes round: 'b' → 'c' → 'b'"),
    ],
)
def test_a_cycle_is_spelled_out(parents: Mapping[RunId, RunId], spelled: str) -> None:
    """lineage: Those that go round are named, in their order, and only those."""
    with pytest.raises(LineageConflictError, match=spelled):
        lineage_of(A, asking(parents))


@pytest.mark.parametrize(
    ("runs", "shown"),
    [(10, "'8' → '9' → '0'"), (11, "'9' → '10' → '0'"), (12, "'5' → … 1 more … → '7'")],
)
def test_a_long_cycle_is_spelled_out_at_both_ends(runs: int, shown: str) -> None:
    """lineage: Twelve names are written out, that which comes again included; others counted."""
    with pytest.raises(LineageConflictError) as caught:
        lineage_of(RunId("0"), lambda run: RunId(str((int(run) + 1) % runs)))
    assert shown in caught.value.found
    assert caught.value.found.count("→") == min(runs, 12)


def test_whoever_walks_knows_whose_record_is_at_fault() -> None:
    """lineage: What was read before a fault is yielded; the last is whose record closes it."""

    def walked(parents: Mapping[RunId, RunId | None]) -> Iterator[str]:
        try:
            yield from walk_ancestors(A, asking(parents))
        except CounterfoilError as error:
            yield type(error).__name__

    assert list(walked({A: B, B: C, C: B})) == ["b", "c", "LineageConflictError"]
    assert list(walked({A: B})) == ["b", "NotFoundError"]
    assert list(walked({})) == ["NotFoundError"]
    assert list(walked({A: B, B: None})) == ["b"]


def test_what_an_authority_says_is_an_id_or_is_refused() -> None:
    """ancestor-faults: G5: an id is weighed wherever it comes from, a stranger's too."""
    stranger = {A: "../evil", B: "e\u0301"}
    with pytest.raises(InvalidIdError, match=r"run id '\.\./evil'"):
        lineage_of(A, stranger.get)  # type: ignore[arg-type]
    assert lineage_of(B, stranger.get) == ("é",)  # type: ignore[arg-type]


@given(st.dictionaries(ids, st.none() | ids), ids)
def test_a_lineage_is_every_ancestor_or_an_error(
    parents: dict[RunId, RunId | None], run: RunId
) -> None:
    """lineage: Each ancestor is the parent of the one before and the last has none."""
    try:
        found = lineage_of(run, asking(parents))
    except (NotFoundError, LineageConflictError):
        seen: list[RunId | None] = [run]
        while seen[-1] in parents and parents[seen[-1]] not in seen:
            seen.append(parents[seen[-1]])
        assert seen[-1] is not None  # it leads to nobody, or round, and not to an end
    else:
        line = (run, *found)
        assert [parents[of] for of in line] == [*found, None]
        assert len(set(line)) == len(line)


@given(st.dictionaries(ids, st.none() | ids), ids, st.none() | ids)
def test_a_parent_that_is_taken_can_be_read_and_one_that_is_refused_could_not(
    parents: dict[RunId, RunId | None], run: RunId, parent: RunId | None
) -> None:
    """run-stores: The check of a parent says what a reader would meet after it."""
    after = asking({**parents, run: parent})
    try:
        require_ancestors(run, parent, asking(parents))
    except (NotFoundError, LineageConflictError) as error:
        with pytest.raises(type(error)):
            lineage_of(run, after)
    else:
        assert lineage_of(run, after)[:1] == (() if parent is None else (parent,))


def test_an_unknown_ancestor_is_named_with_who_names_it() -> None:
    """run-stores: A parent and a further ancestor that nobody knows are told apart."""
    with pytest.raises(NotFoundError) as caught:
        require_ancestors(A, B, asking({}))
    assert str(caught.value) == (
        "parent 'b' of run 'a' is not known: no run 'b'; expected a run that is known"
        " (hint: check the spelling, or init 'b' first)"
    )
    with pytest.raises(NotFoundError, match="ancestor 'c' of run 'a' is not known: no run 'c'"):
        require_ancestors(A, B, asking({B: C}))


@pytest.mark.parametrize(
    ("recorded", "asked", "said"),
    [
        (B, C, "run 'a' has the parent 'b', and parent 'c' was given"),
        (B, None, "run 'a' has the parent 'b', and no parent was given"),
        (None, C, "run 'a' is recorded without a parent, and parent 'c' was given"),
    ],
)
def test_another_parent_is_refused_naming_both(
    recorded: RunId | None, asked: RunId | None, said: str
) -> None:
    """run-stores: A run keeps its parent."""
    with pytest.raises(LineageConflictError) as caught:
        require_parent(A, recorded, asked)
    assert caught.value.found == said
    kept = "no parent" if recorded is None else f"parent {str(recorded)!r}"
    assert caught.value.advice == f"give {kept}, or choose another run id"
    require_parent(A, recorded, recorded)


def test_two_spellings_of_one_name_on_some_disk_are_told_apart_in_the_message() -> None:
    """run-stores: Names that look the same are written so that they do not."""
    require_spelling("a", None)
    with pytest.raises(ConflictError, match="run id 'A' differs only in letter case from 'a'"):
        require_spelling("A", "a")
    with pytest.raises(ConflictError) as caught:
        require_spelling("e\u0301", "\u00e9")
    assert r"'e\u0301' differs only in normal form from '\xe9'" in str(caught.value)
    with pytest.raises(ConflictError, match=r"the place of run 'a1' differs only in .* 'by/A'"):
        require_spelling("a1", "by/A")


@pytest.mark.parametrize(
    ("one", "other"),
    [("Alpha", "alpha"), ("\u00e9", "e\u0301"), ("\u00c9", "e\u0301"), ("STRASSE", "straße")],
)
def test_names_that_some_disks_do_not_tell_apart_fold_to_one(one: str, other: str) -> None:
    """run-stores: Letter case and normal form are folded, also both at once."""
    assert folded(one) == folded(other)
    assert folded(folded(one)) == folded(one)


def test_compatibility_forms_fold_to_different_names() -> None:
    """run-stores: What no disk takes for one stays two."""
    assert folded("run①") != folded("run1")
