"""Events on the wire where no vector goes: what each field takes, and names."""

import json
from typing import Any

import pytest

from counterfoil.core.events import Event, ThreadOpened, Unrecognized
from counterfoil.wire.events import decode_event, encode_event, event_from_json, wire_name
from counterfoil.wire.strict_json import Malformed


def _event(kind: str = "prompt_received", **details: object) -> dict[str, Any]:
    return {
        "schema": 1,
        "seq": 1,
        "id": "0" * 16,
        "occurredAt": "2026-03-01T09:00:00.000Z",
        "thread": "t1",
        "kind": kind,
        "details": details,
    }


@pytest.mark.parametrize(
    ("event", "field"),
    [
        (_event(text=1), "details.text"),
        (_event("thread_opened", tools="bash"), "details.tools"),
        (_event("thread_opened", tools=["a", 1]), "details.tools"),
        (_event("thread_opened", instructions=1), "details.instructions"),
        (_event("thread_opened", versions=["a"]), "details.versions"),
        (_event("thread_opened", versions={"a": 1}), "details.versions"),
        (_event("reasoning_given", text="", milliseconds=True), "details.milliseconds"),
        (_event("model_asked", entries=[1, "2"]), "details.entries"),
        (_event("reply_given", text="", usage=[]), "details.usage"),
        (_event("reply_given", text="", usage={"input": "1"}), "details.usage.input"),
        (_event() | {"details": []}, "details"),
        (_event() | {"turn": "1"}, "turn"),
        (_event() | {"call": 1}, "call"),
        (_event() | {"kind": None}, "kind"),
        (_event() | {"schema": True}, "schema"),
        (_event() | {"id": 1}, "id"),
    ],
)
def test_a_field_of_the_wrong_type_is_named(event: dict[str, Any], field: str) -> None:
    """events-malformed: The reason says which field is at fault."""
    assert event_from_json(event) == Malformed("wrong-type", field)


@pytest.mark.parametrize(
    ("event", "field"),
    [
        (_event("context_condensed", steps=["elide", "fly"]), "details.steps"),
        (_event("thread_closed", reason="tired"), "details.reason"),
        (_event(text="") | {"call": " "}, "call"),
        (_event(text="") | {"turn": 0}, "turn"),
        (_event(text="") | {"seq": 0}, "seq"),
        (_event(text="") | {"id": "A" * 16}, "id"),
        (_event(text="") | {"thread": ".."}, "thread"),
        (_event(text="") | {"occurredAt": "2026-02-30T09:00:00.000Z"}, "occurredAt"),
    ],
)
def test_a_value_that_is_not_on_its_list_is_named(event: dict[str, Any], field: str) -> None:
    """events-malformed: A value of the right type may still be none that the field has."""
    assert event_from_json(event) == Malformed("bad-value", field)


@pytest.mark.parametrize("line", ["[]", "null", '"x"', "1"])
def test_json_that_is_no_object_is_no_event(line: str) -> None:
    """events-malformed: An event is an object."""
    assert decode_event(line) == Malformed("not-object")


def test_every_type_of_field_is_read() -> None:
    """events-wire: Lists become tuples, texts by name stay so, what is absent is `None`."""
    event = event_from_json(
        _event("thread_opened", tools=["a", "b"], instructions=False, versions={"x": "1"})
    )
    assert isinstance(event, Event)
    assert event.payload == ThreadOpened(tools=("a", "b"), instructions=False, versions={"x": "1"})
    assert event.turn is None
    assert event.kept == ()


def test_an_unknown_kind_keeps_its_details() -> None:
    """events-kept: They are its canonical text, and are written back."""
    line = json.dumps(_event("rocket_launched", to="Mars", at=None))
    event = decode_event(line)
    assert isinstance(event, Event)
    assert event.payload == Unrecognized(kind="rocket_launched", details='{"at":null,"to":"Mars"}')
    assert json.loads(encode_event(event)) == json.loads(line)


@pytest.mark.parametrize(
    ("name", "wire"), [("text", "text"), ("exit_status", "exitStatus"), ("a_b_c", "aBC")]
)
def test_a_field_has_a_wire_name(name: str, wire: str) -> None:
    """events-wire: The same words in camel case."""
    assert wire_name(name) == wire
