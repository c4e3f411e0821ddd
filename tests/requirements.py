"""Every promised behaviour: an id, where it is promised, a sentence, and its gap if any.

A test names the promise it keeps by beginning its docstring with the id and a colon.
`tests/test_requirements.py` holds both directions: no test without a promise, no
promise without a test. A gap is data: what is not kept yet, and what today's tests pin.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requirement:
    """One promise; `gap` says what of it is not kept yet."""

    source: str
    sentence: str
    gap: str | None = None


R = Requirement

CORE = {
    "ids": R("design.md 3", "An id is refused where it is made, with what was expected."),
    "errors": R("design.md 6", "An error says what was found, what was expected, what to do."),
    "events-wire": R("design.md 4", "Any spelling of an event is read; its canonical form is written."),
    "events-kept": R("design.md 4", "Unknown kinds and fields, nulls and absences are kept as they were."),
    "events-malformed": R("design.md 4", "What is no event is data with a reason, never an exception."),
    "events-tripwire": R("design.md 3", "Every kind is shown in a receipt or on the list left out."),
    "canonical": R("ledger.md 2", "One value has one canonical text, RFC 8785 without floats."),
    "receipt": R("receipts.md 1", "A receipt is a pure fold over the events of its turn."),
    "receipt-bounds": R("receipts.md 1", "Each list of a receipt holds 64 rows and counts the rest."),
    "collector": R("receipts.md 1", "A collector holds 512 events of a turn and knows how many fell out."),
    "ran": R("receipts.md 2", "The `ran:` line says what each tool did and how its calls ended."),
    "entry-grammar": R("references.md 1.1", "Entry references are read with spans, in linear time."),
    "entry-check": R("references.md 1.2", "Distinct numbers are checked up to a hundred; the rest are counted."),
    "cited-line": R("references.md 1.3", "One line names the cited entries that do not exist."),
    "intervals": R("references.md 1.2", "Numbers are counted with intervals and never expanded."),
    "literals": R("references.md 3", "Places, commits, quotations and sources are read with spans."),
    "literals-linear": R("references.md 3", "Reading references of any kind is linear in the text."),
    "shown": R("references.md 3", "A place is weighed against every file that it can mean."),
    "commands": R("transcripts.md 3", "What a command shows of files is read only where it is certain."),
}

RECORD = {
}

TRANSCRIPTS = {
}

ENGINE = {
}

CLI = {
}

HOUSE = {
    "requirements": R("style.md 1", "Every test names a promise and every promise has a test."),
}

REQUIREMENTS = CORE | RECORD | TRANSCRIPTS | ENGINE | CLI | HOUSE
