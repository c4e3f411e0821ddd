"""Every reason that a reference can be judged by: what it says, and what it does not.

The table is the documentation: `explain` prints it and the reference page is made of it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """What a reason says to a person, and what must not be read into it."""

    sentence: str
    not_asserted: str


_EXISTS = "that what the reply says about it is right: existing is the whole check"
_SILENT = "that it does not exist: the record cannot show it"

REASONS: dict[str, Reason] = {
    "entry-exists": Reason("every number of it is an entry of the thread", _EXISTS),
    "no-such-entry": Reason(
        "the thread did not have it, or not all of it, when the reply was given",
        "anything about entries that do exist",
    ),
    "not-checked": Reason("only the first 100 numbers of a reply are checked", _SILENT),
    "read": Reason("a tool read those lines before the reply", _EXISTS),
    "written": Reason("a tool wrote those lines before the reply", _EXISTS),
    "printed": Reason("a tool's output shows it before the reply", _EXISTS),
    "grepped": Reason("a search showed that line before the reply", _EXISTS),
    "fetched": Reason("a tool fetched it before the reply", _EXISTS),
    "given-by-person": Reason("the person wrote it before the reply", _EXISTS),
    "given-by-system": Reason("the instructions or the context hold it", _EXISTS),
    "in-tree": Reason("the repository's tree has those lines at the time of the turn", _EXISTS),
    "in-repository": Reason("the repository has that commit", _EXISTS),
    "past-end": Reason(
        "the record shows the whole file, and it is shorter", "that the file was always that short"
    ),
    "past-end-in-tree": Reason(
        "the file is shorter in the tree at the time of the turn, and is not longer now",
        "what a work tree held that was never committed",
    ),
    "line-not-shown": Reason("the file is in the record, those lines of it are not", _SILENT),
    "file-not-in-record": Reason(
        "no tool, person or instruction names that file before the reply", _SILENT
    ),
    "not-in-record": Reason("nothing in the record before the reply holds it", _SILENT),
    "not-in-repository": Reason("neither the record nor the repository given holds it", _SILENT),
    "never-fetched": Reason("no tool fetched it and no output names it before the reply", _SILENT),
    "only-in-search-results": Reason("it stands in search results and was not opened", _SILENT),
    "output-cut": Reason(
        "it is nowhere in the record, and an output that may have held it was cut", _SILENT
    ),
    "only-model-text": Reason(
        "only the agent's own earlier words hold it, which are no evidence", _SILENT
    ),
    "only-subagent-prose": Reason(
        "only the words of a sub-agent hold it, which are no evidence", _SILENT
    ),
    "only-harness-text": Reason(
        "only a reminder or a summary holds it, which is no evidence", _SILENT
    ),
}
"""Every reason by its code."""


def reason_text(code: str) -> str:
    """Return what a reason says; one without an entry says itself."""
    reason = REASONS.get(code)
    return reason.sentence if reason else code.replace("-", " ")
