"""Two readings side by side, and the switch once nothing differs."""

import json

import pytest

from counterfoil.core.digests import digest_hex, tagged_digest
from counterfoil.core.errors import ConflictError, CounterfoilError
from counterfoil.core.ids import HERE, PageId, RunId
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.judged import Judged, Place
from counterfoil.core.knowledge.pages import Page, Written
from counterfoil.engine.migrate import Dual, Switch, SwitchOutcome, migrate, switch_over
from counterfoil.testing.store_writes import MemoryStoreWriter
from counterfoil.wire.records import encode_switch
from counterfoil.wire.resolutions import ForeignResolutions

NOW = "2026-03-01T09:00:00.000Z"
THEIRS = tagged_digest(b"theirs")
FIT = Place(HERE, "knowledge/fit.md")
UNITS = Place(HERE, "knowledge/units.md")
AGREED = Judged(FIT, "units", "resolved", (UNITS,))


def _chain(run: str | None = "r") -> ChainSnapshot:
    pages = (
        Page(path=FIT.path, id=PageId("fit"), title="fit", cites=(Written("units"),)),
        Page(path=UNITS.path, id=PageId("units"), title="units"),
    )
    return ChainSnapshot([Store(origin=HERE, pages=pages)], run=RunId(run) if run else None)


def _dual(*judged: Judged, frozen: str | None = None, run: str | None = "r") -> Dual:
    return Dual(
        load_chain=lambda: _chain(run), theirs=ForeignResolutions(judged, THEIRS), frozen=frozen
    )


def _switch(
    dual: Dual, writer: MemoryStoreWriter, *, actor: str = "ann", reason: str = "dual read"
) -> SwitchOutcome:
    switch = Switch(writer=writer, encode=encode_switch, actor=actor, reason=reason, now=NOW)
    return switch_over(dual, switch)


def test_comparing_names_the_pages_by_their_digest() -> None:
    """migrate: The report says over which frozen pages it was made."""
    report = migrate(_dual(AGREED, frozen=_chain().digest))
    assert (report.outcome, report.chain, report.compared) == ("same", _chain().digest, 1)


@pytest.mark.parametrize("compare", ["migrate", "switch"])
def test_pages_that_moved_are_not_compared(compare: str) -> None:
    """migrate: Both are to read the same pages."""
    dual, writer = _dual(AGREED, frozen="sha256:00"), MemoryStoreWriter()
    with pytest.raises(ConflictError) as refused:
        migrate(dual) if compare == "migrate" else _switch(dual, writer)
    assert _chain().digest in refused.value.found
    assert writer.files == {}


@pytest.mark.parametrize("run", ["r", None])
def test_a_switch_leaves_a_record_named_by_its_content(run: str | None) -> None:
    """migrate: It names the pages and the resolutions that agreed."""
    writer = MemoryStoreWriter()
    outcome = _switch(_dual(AGREED, run=run), writer)
    assert outcome.report.outcome == "same"
    assert outcome.record is not None
    path = f".counterfoil/migrations/{digest_hex(outcome.record)}.json"
    assert list(writer.files) == [path]
    assert tagged_digest(writer.files[path]) == outcome.record
    assert json.loads(writer.files[path]) == {
        "schema": 1,
        "run": run,
        "actor": "ann",
        "reason": "dual read",
        "switchedAt": NOW,
        "chain": _chain(run).digest,
        "resolutions": THEIRS,
        "compared": 1,
    }


@pytest.mark.parametrize("judged", [(), (Judged(FIT, "units", "missing"),)])
def test_nothing_is_switched_while_a_difference_is_left(judged: tuple[Judged, ...]) -> None:
    """migrate: The report says what is left, and nothing is written."""
    writer = MemoryStoreWriter()
    outcome = _switch(_dual(*judged), writer)
    assert outcome.record is None
    assert len(outcome.report.differences) == 1
    assert (writer.files, writer.purposes) == ({}, [])


def test_nothing_is_switched_over_nothing() -> None:
    """migrate: Nothing compared is no agreement."""
    dual = Dual(
        load_chain=lambda: ChainSnapshot([Store(origin=HERE, pages=())]),
        theirs=ForeignResolutions((), THEIRS),
    )
    writer = MemoryStoreWriter()
    outcome = _switch(dual, writer)
    assert (outcome.report.outcome, outcome.record, writer.files) == ("empty", None, {})


@pytest.mark.parametrize(("actor", "reason", "name"), [(" ", "x", "actor"), ("x", "", "reason")])
def test_somebody_switches_for_a_reason(actor: str, reason: str, name: str) -> None:
    """migrate: The record says who and why."""
    with pytest.raises(CounterfoilError, match=f"{name} is"):
        _switch(_dual(AGREED), MemoryStoreWriter(), actor=actor, reason=reason)


def test_the_store_is_held_while_it_is_switched() -> None:
    """migrate: Nobody else writes between comparing and recording."""
    writer = MemoryStoreWriter()
    writer.is_held = True
    with pytest.raises(ConflictError):
        _switch(_dual(AGREED), writer)
