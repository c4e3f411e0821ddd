"""The closed union of events, and the tripwire: nobody adds a kind without deciding."""

import re
from dataclasses import fields, is_dataclass
from typing import get_args

import pytest

from counterfoil.core.events import (
    KINDS,
    OUTSIDE_RECEIPTS,
    Event,
    Fact,
    Payload,
    PromptReceived,
    Unrecognized,
    kind_of,
)
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.core.turns import READ_BY_RECEIPTS
from counterfoil.testing.samples import PAYLOADS

CLASSES = list(KINDS.items())


@pytest.mark.parametrize(("kind", "payload"), CLASSES)
def test_a_kind_is_either_shown_in_a_receipt_or_left_out(kind: str, payload: type[Payload]) -> None:
    """events-tripwire: Adding a kind fails here until someone decides; none is on both lists."""
    assert (payload in READ_BY_RECEIPTS) != (payload in OUTSIDE_RECEIPTS), kind


def test_no_list_names_a_kind_that_is_none() -> None:
    """events-tripwire: The lists hold kinds alone, and what is unknown is counted in receipts."""
    known = set(KINDS.values())
    assert known >= OUTSIDE_RECEIPTS
    assert READ_BY_RECEIPTS - known == {Unrecognized}


def test_every_payload_is_a_kind() -> None:
    """events-tripwire: The union and the table of kinds are the same, beside the unknown."""
    assert set(get_args(Payload)) == {Unrecognized, *KINDS.values()}
    assert len(KINDS) == len(get_args(Payload)) - 1


@pytest.mark.parametrize(("kind", "payload"), CLASSES)
def test_a_wire_kind_is_the_class_name_in_snake_case(kind: str, payload: type[Payload]) -> None:
    """events-tripwire: The wire name is the same words, and the class says what it is."""
    words = re.findall(r"[A-Z][a-z]+", payload.__name__)
    assert "".join(words) == payload.__name__
    assert kind == "_".join(words).lower()
    assert payload.__doc__
    assert not payload.__doc__.startswith(f"{payload.__name__}("), "written, not generated"


@pytest.mark.parametrize(("kind", "payload"), CLASSES)
def test_a_kind_is_named_in_the_past_tense(kind: str, payload: type[Payload]) -> None:
    """events-tripwire: A fact has happened: its name ends in a participle."""
    irregular = {"given", "written"}
    assert kind.endswith("ed") or kind.rpartition("_")[2] in irregular


@pytest.mark.parametrize("payload", [Event, Fact, Unrecognized, *KINDS.values()])
def test_nothing_of_an_event_can_be_changed(payload: type) -> None:
    """events-tripwire: Events are frozen values that take their fields by name."""
    assert is_dataclass(payload)
    parameters = payload.__dataclass_params__  # type: ignore[attr-defined]  # of every dataclass
    assert parameters.frozen
    assert all(field.kw_only for field in fields(payload))


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: type(payload).__name__)
def test_a_payload_has_the_wire_kind_of_its_class(payload: Payload) -> None:
    """events-wire: An unknown kind keeps the name that it came with."""
    unknown = isinstance(payload, Unrecognized)
    assert kind_of(payload) == ("rocket_launched" if unknown else kind_of(payload))
    assert (kind_of(payload) in KINDS) is not unknown


def test_a_fact_becomes_the_event_of_its_place() -> None:
    """events-kept: A ledger gives a fact its place and changes nothing."""
    fact = Fact(
        id=EventId.from_number(1),
        occurred_at="2026-03-01T09:00:00.000Z",
        thread=ThreadId("t1"),
        turn=2,
        call="c1",
        payload=PromptReceived(text="x"),
        kept=((("note",), "1"),),
    )
    event = fact.at(7)
    assert event.seq == 7
    for field in fields(Fact):
        assert getattr(event, field.name) == getattr(fact, field.name)
