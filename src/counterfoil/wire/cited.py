"""What a reply cites of its thread's entries, as every face writes it in JSON."""

from typing import Any

from counterfoil.core.canonical import LARGEST
from counterfoil.core.refs.cited import CitedEntries


def missing_to_json(cited: CitedEntries) -> list[int | str]:
    """Return the numbers that do not exist, in the order cited."""
    return [_number(number) for number in cited.missing]


def counts_to_json(cited: CitedEntries) -> dict[str, Any]:
    """Return how many numbers were checked, are missing, and were not checked."""
    return {
        "checked": len(cited.cited),
        "missing": len(cited.missing),
        "unchecked": _number(cited.unchecked),
    }


def _number(number: int) -> int | str:
    """A number that a reader of JSON would not keep exact is written as text."""
    return number if number <= LARGEST else str(number)
