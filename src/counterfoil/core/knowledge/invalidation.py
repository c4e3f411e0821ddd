"""What takes a page back: `invalidation`, a mapping with verdict, time and reason."""

import re
from collections.abc import Iterator, Mapping
from typing import cast

from counterfoil.core.ids import is_instant
from counterfoil.core.knowledge.pages import Invalidation

_KNOWN = frozenset({"verdict", "observedAt", "reason", "evidencePath", "grader"})
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?"
    r"([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)\Z",
    re.ASCII,
)


def read_invalidation(value: object) -> Invalidation | str:
    """Return what `value` says, or why it says nothing; keys that are not known are kept."""
    if not isinstance(value, dict):
        return "it is no mapping"
    given = cast("Mapping[str, object]", value)
    reasons = ", ".join(_reasons(given))
    if reasons:
        return reasons
    texts = {key: text for key, text in given.items() if isinstance(text, str)}
    return Invalidation(
        observed_at=texts["observedAt"],
        reason=texts["reason"],
        evidence_path=texts.get("evidencePath"),
        grader=texts.get("grader"),
        more=tuple((key, more) for key, more in given.items() if key not in _KNOWN),
    )


def is_time(value: object) -> bool:
    """Say whether `value` is the text of an RFC 3339 time with its zone, of a day that exists."""
    if not isinstance(value, str) or not _TIME.match(value):
        return False
    return is_instant(f"{value[:10]}T00:00:00.000Z")


def _reasons(given: Mapping[str, object]) -> Iterator[str]:
    if given.get("verdict") != "contradicted":
        yield "its `verdict` is not `contradicted`"
    if not is_time(given.get("observedAt")):
        yield "its `observedAt` is no RFC 3339 time with a zone"
    if _is_blank(given.get("reason")):
        yield "it has no `reason`"
    for key in ("evidencePath", "grader"):
        if given.get(key) is not None and _is_blank(given[key]):
            yield f"its `{key}` is no text"


def _is_blank(value: object) -> bool:
    return not isinstance(value, str) or not value.strip()
