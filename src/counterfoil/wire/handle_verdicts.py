"""What a handle means, as JSON: the verdict, and every candidate with a handle of its own."""

from collections.abc import Mapping
from typing import Any

from counterfoil.core.ids import Origin
from counterfoil.core.knowledge.resolution import PageResolution
from counterfoil.core.refs.pages import Malformed, PageReference, format_handle


def resolution_to_json(row: PageResolution, places: Mapping[Origin, str]) -> dict[str, Any]:
    """Return `row` as JSON; `places` stand before the paths of each origin."""
    value: dict[str, Any] = {
        "handle": row.written,
        "verdict": row.verdict,
        "candidates": [
            {"handle": handle, "path": path} for handle, path in shown_candidates(row, places)
        ],
    }
    if isinstance(row.reference, Malformed):
        value["reason"] = row.reference.reason
    return value


def shown_candidates(row: PageResolution, places: Mapping[Origin, str]) -> list[tuple[str, str]]:
    """Return the handle and the path of each candidate, in chain order."""
    return [
        (
            format_handle(PageReference(found.origin, found.page.id)),
            places.get(found.origin, "") + found.page.path,
        )
        for found in row.candidates
    ]
