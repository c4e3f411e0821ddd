"""Reports to write: each field given, or left as it mostly is."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from counterfoil.core.receipt import fold_receipt
from counterfoil.core.report import Reference, Spot, TurnReport

Given: TypeAlias = Any
"""The value of a field; which type it has is the field's to say."""


def _reference(**fields: Given) -> Reference:
    made: dict[str, Any] = {
        "kind": "place",
        "text": "a.py:9",
        "place": Spot(line=7, block=1, start=4, end=10),
        "verdict": "contradicted",
        "reason": "past-end",
    }
    return Reference(**made | fields)


def _turn(*references: Reference, **fields: Given) -> TurnReport:
    made: dict[str, Any] = {
        "thread": "t1",
        "parent": None,
        "turn": 1,
        "line": 2,
        "source": None,
        "prompt": "Do it.",
        "ran": None,
        "cited": None,
        "receipt": fold_receipt([], "t1", 1),
        "replies": (Spot(line=7, block=1),),
        "references": references,
    }
    return TurnReport(**made | fields)


@pytest.fixture
def reference() -> Callable[..., Reference]:
    """Make a contradicted place; what is named is another."""
    return _reference


@pytest.fixture
def turn() -> Callable[..., TurnReport]:
    """Make the report of a turn with references; what is named is another."""
    return _turn
