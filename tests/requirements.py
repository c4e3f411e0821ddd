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
    "event-log": R("ledger.md 1", "After an append the events are those before and the new one."),
    "entry-store": R("ledger.md 1", "Entries are numbered from 1 in each thread, for ever."),
    "append-only": R("ledger.md 1", "The tables refuse UPDATE, DELETE and REPLACE by triggers."),
    "two-writers": R("ledger.md 1", "No place is given twice, however many processes append."),
    "store-busy": R("ledger.md 1", "A lock is waited out, with a bound and a clear error."),
    "store-modes": R("ledger.md 1", "The files of a new store are for its owner alone."),
    "store-kill": R("ledger.md 3", "A killed writer loses, doubles, tears nothing recorded."),
    "store-full": R("ledger.md 3", "A full disk is an error; earlier events are intact."),
    "store-version": R("ledger.md 3", "What is no store of this version is refused, untouched."),
    "store-faults": R("design.md 6", "No fault of SQLite leaves a store but as one of the family."),
    "store-read": R("ledger.md 4", "Reading goes by index, in pages, and holds nobody up."),
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
