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
    "events-wire": R(
        "design.md 4", "Any spelling of an event is read; its canonical form is written."
    ),
    "events-kept": R(
        "design.md 4", "Unknown kinds and fields, nulls and absences are kept as they were."
    ),
    "events-malformed": R(
        "design.md 4", "What is no event is data with a reason, never an exception."
    ),
    "events-tripwire": R(
        "design.md 3", "Every kind is shown in a receipt or on the list left out."
    ),
    "canonical": R("ledger.md 2", "One value has one canonical text, RFC 8785 without floats."),
    "receipt": R("receipts.md 1", "A receipt is a pure fold over the events of its turn."),
    "receipt-bounds": R(
        "receipts.md 1", "Each list of a receipt holds 64 rows and counts the rest."
    ),
    "collector": R(
        "receipts.md 1", "A collector holds 512 events of a turn and knows how many fell out."
    ),
    "ran": R("receipts.md 2", "The `ran:` line says what each tool did and how its calls ended."),
    "entry-grammar": R(
        "references.md 1.1", "Entry references are read with spans, in linear time."
    ),
    "entry-check": R(
        "references.md 1.2", "Distinct numbers are checked up to a hundred; the rest are counted."
    ),
    "cited-line": R("references.md 1.3", "One line names the cited entries that do not exist."),
    "intervals": R("references.md 1.2", "Numbers are counted with intervals and never expanded."),
    "literals": R(
        "references.md 3", "Places, commits, quotations and sources are read with spans."
    ),
    "literals-linear": R(
        "references.md 3", "Reading references of any kind is linear in the text."
    ),
    "shown": R("references.md 3", "A place is weighed against every file that it can mean."),
    "commands": R(
        "transcripts.md 3", "What a command shows of files is read only where it is certain."
    ),
    "resolution": R("design.md 1", "A verdict is derived from all evidence and never stored."),
    "needles": R("references.md 3", "What is looked for is found where it stands for itself."),
    "reasons": R("design.md 1", "A reason says what was found and what must not be read into it."),
    "plain-text": R("design.md 9", "Text of a record steers no terminal and no reader."),
    "settings": R("design.md 7", "The later layer wins; an unknown key names its nearest."),
    "public-names": R("design.md 7", "The names exported are all there, and no other."),
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
    "lines": R("transcripts.md 1, rule 1", "Records end at LF only; nothing else ends one."),
    "skipped-lines": R("transcripts.md 1, rule 1", "CRLF, BOM, blanks, comments, NUL are counted."),
    "glued": R("transcripts.md 1, rule 1", "Two objects on one line are two records."),
    "utf8": R("transcripts.md 1, rule 1", "Bytes that are not UTF-8 are replaced and counted."),
    "surrogates": R("transcripts.md 1, rule 1", "Lone surrogates crash no reading and no output."),
    "one-bad-record": R("transcripts.md 1, rule 2", "One bad record is a caveat, no more."),
    "in-progress": R("transcripts.md 1, rule 2", "A half record at the very end is no damage."),
    "shape": R("transcripts.md 1, rule 3", "Shape decides, and none stops the reading."),
    "unknown-kinds": R("transcripts.md 1, rule 3", "Unknown kinds are kept and counted, no more."),
    "unknown-format": R("transcripts.md 1, rule 3", "An unknown format is one line, code 3."),
    "once": R("transcripts.md 1, rule 4", "A record written again counts once, by its ids."),
    "joined": R("transcripts.md 1, rule 5", "Results find calls by id; orphans are caveats."),
    "threads": R("transcripts.md 1, rule 5", "Sessions in one file stay apart."),
    "whose-words": R("transcripts.md 1, rule 6", "Only tools, person and system give evidence."),
    "sub-agents": R("transcripts.md 1, rule 7", "Sub-agents are threads below their calls."),
    "flat-memory": R("transcripts.md 1, rule 8", "Long lines and files are read in a stream."),
    "three-verdicts": R("references.md 3", "What the record cannot show is not established."),
    "whole-reply": R("references.md 3", "A reply is read from its beginning to its end."),
}

ENGINE = {
    "law-one-bad-record": R(
        "transcripts.md 1", "One bad record stops nothing and changes nothing but caveats."
    ),
    "law-lines-counted": R(
        "transcripts.md 1", "Every line is a record, or skipped by name, or a caveat."
    ),
    "law-truncation": R("transcripts.md 1", "A file cut anywhere says what its whole lines say."),
    "law-once": R("transcripts.md 1", "A record that is written again counts once."),
    "law-line-ends": R("transcripts.md 1", "CRLF for LF changes nothing but the size."),
    "law-read-is-recorded": R(
        "transcripts.md", "Events that an adapter reads can be written, read back and folded."
    ),
    "golden-turns": R(
        "issue 2", "On realistic sessions every turn and receipt is that of the story."
    ),
    "golden-references": R("issue 2", "On realistic sessions every reference is judged as it was."),
    "golden-text": R("issue 2", "On realistic sessions every line of the output is true."),
    "check-document": R("claims.md 5", "The document of a check has one shape, whatever was read."),
    "annotations": R("issue 2", "Findings for CI carry rule, level and place, all escaped."),
    "read-at": R("issue 2", "A place of a transcript is told whole, as it stands."),
}

CLI = {
    "help": R("issue 2", "`--help` lists the commands; each explains itself."),
    "mistakes": R("design.md 6", "A mistake is one clear line: found, expected, what to do."),
    "standard-input": R("issue 2", "`-` is checked like a file."),
    "compressed": R("transcripts.md 4", "A `.zst` rollout is read; damage in it is named."),
    "forms": R("issue 2", "`--format github` and `sarif` report to continuous integration."),
    "configuration": R("design.md 7", "Every key has a value and an origin; the later layer wins."),
    "receipt-command": R("issue 2", "`receipt` prints the receipts that the check folds."),
    "show-command": R("issue 2", "`show` prints what stands at a place, whole."),
    "explain-command": R("issue 2", "`explain` says rule, words, reason and record."),
    "formats-command": R("transcripts.md 1, rule 10", "`formats` prints the evidence matrix."),
    "audit-shapes": R("transcripts.md 1, rule 10", "Shapes of records are printed without values."),
    "colour": R("design.md 5", "Colour only where it is wanted; NO_COLOR is honoured."),
    "progress": R("issue 2", "A bar on long work where standard error is a terminal."),
    "completion": R("design.md 7", "Completion for bash, zsh and fish."),
    "imports": R("issue 2", "Nothing is imported that the command does not use."),
    "repository": R("references.md 3", "Places and commits are looked up in a repository given."),
    "json-schema": R("issue 2", "What `check --json` prints is of the published JSON Schema."),
    "exit-codes": R("design.md 5", "Exit codes are 0, 1 for an error, 2 misuse, 3 could not tell."),
    "encoding": R("design.md 5", "Output is UTF-8 whatever the locale."),
    "closed-pipe": R("design.md 5", "A reader that goes away is no fault and no finding."),
    "nothing-to-check": R("design.md 5", "Nothing to check is `empty` and 0, never clean."),
    "what-was-checked": R("design.md 1", "A report says what it looked at, and no more."),
    "discovery": R("transcripts.md 1, rule 10", "Sessions are listed by what their records say."),
    "scale": R("design.md 7", "Time is linear, memory flat, however long the session."),
    "open-cases": R("transcripts.md 1", "Every open case of another project has its test."),
}

HOUSE = {
    "requirements": R("style.md 1", "Every test names a promise and every promise has a test."),
    "docs-executed": R("style.md 1", "Every block of a page is generated or run."),
    "docs-links": R("style.md 1", "No link of a page is dead."),
    "docs-complete": R("style.md 1", "A reference page names everything that there is."),
    "glossary": R("design.md 2", "One word a thing; the others stand in no name."),
    "examples": R("agent.md 8", "The bundled examples show what the README says."),
}

KNOWLEDGE = {
    "handles": R("references.md 2", "Handles are read and written, inverse and injective."),
    "page-names": R("knowledge.md 1", "A page without an id gets the slug of its path."),
    "frontmatter": R("knowledge.md 1", "Frontmatter is read as YAML 1.2, its faults are data."),
    "frontmatter-rewrite": R(
        "knowledge.md 1", "A rewrite changes the field asked for, no byte else."
    ),
    "page-fields": R(
        "knowledge.md 1", "A field is understood, or its fault is named; none is lost."
    ),
    "wikilinks": R("knowledge.md 1", "Links are read where CommonMark has text, with their place."),
    "lineage": R("knowledge.md 2", "Ancestry is read nearest first, whole, or refused."),
    "run-stores": R("knowledge.md 2", "A refused `init` leaves the disk as it was."),
    "chain": R("knowledge.md 2", "A chain shows every visible page and shadows none."),
    "page-resolution": R("references.md 2", "A reference keeps all candidates; none is guessed."),
    "citation-audit": R("references.md 2", "Every fault of a citation is one finding of its kind."),
    "lint": R("knowledge.md 4", "Each code is found where it is, and only there."),
    "lint-codes": R("knowledge.md 4", "Each code says what it means, how to fix, how to silence."),
    "lint-silence": R("knowledge.md 4", "A finding is silenced with a reason, and counted."),
    "lint-since": R("knowledge.md 4", "`--since` reports what the change brings in, and no more."),
    "lint-incremental": R("knowledge.md 4", "A lint after a change says what a new one would."),
    "lint-forms": R("knowledge.md 8", "Text, JSON, SARIF and GitHub carry the same findings."),
    "ancestor-faults": R("knowledge-ancestor", "No fault that reviewers found in the ancestor."),
    "graph": R("knowledge.md 5", "Edges, weights, reasons and degrees agree with the pages."),
    "kb-search": R("knowledge.md 6", "A search is deterministic, offline, ranked as described."),
    "kb-brief": R("knowledge.md 6", "A brief keeps its bound, and its text and hits in step."),
    "retrieval-receipts": R("knowledge.md 7", "A receipt says what was returned, out of what."),
    "kb-sources": R("knowledge.md 7", "Sources are kept by content, with anchors, all or none."),
    "claim-evidence": R("knowledge.md 7", "Evidence that cannot be graded is refused and said."),
    "kb-grade": R("knowledge.md 7", "A check runs bounded; an environment refutes nothing."),
    "write-blocks": R("knowledge.md 7", "Blocks are written all or none, over bytes seen."),
    "intake-gate": R("knowledge.md 7", "Unresolved and near-duplicate pages are refused first."),
    "promotion": R("knowledge.md 7", "Promotion carries the closure and keeps resolutions."),
    "migrate": R("knowledge.md 8", "Every difference is classified; nothing changes until none."),
    "store-paths": R("knowledge.md 1", "A path stays below its root, whatever it is made of."),
    "store-writes": R("knowledge.md 1", "A write is atomic, durable, and follows no link."),
    "store-lock": R("knowledge.md 1", "One writer at a time; a crash releases the lock."),
    "store-transactions": R("knowledge.md 1", "Pages are written together, or not at all."),
    "store-kills": R("knowledge.md 1", "A kill at any step leaves before or after, no between."),
    "store-readers": R("knowledge.md 1", "A reader sees one instant and blocks nobody."),
    "store-scan": R("knowledge.md 1", "One bad file hides no other; links are not followed."),
    "index-cache": R("knowledge.md 1", "The cache is never trusted over the files."),
    "kb-commands": R("knowledge.md 8", "Each command prints, exits and fails as documented."),
    "kb-init": R(
        "knowledge.md 8", "A new store is made whole or not at all; a demo shows a fault."
    ),
}

AGENT = {
    "turns": R("agent.md 1", "A turn is recorded in order; failed or cancelled, honestly."),
    "two-drivers": R("design.md 3", "One generator, two drivers, one record, one receipt."),
    "leases": R("agent.md 1", "One process runs a thread's turns; a crash releases it."),
    "context": R("agent.md 2", "What a model read can be shown for every turn, from the record."),
    "paging": R("agent.md 3", "Pages are of whole lines, bounded, and give the text back."),
    "agent-tools": R("agent.md 3", "Each call is recorded before and after, bounded, answered."),
    "tool-runner": R("agent.md 3", "A command ends at its bounds with all that it started."),
    "confinement": R("agent.md 3", "A confined command writes where it may, never in the home."),
    "shell-parser": R(
        "agent.md 3", "A parser of the shell reads commands; what it cannot is never safe."
    ),
    "policy": R("agent.md 3", "What is denied is told by meaning and by patterns."),
    "gate-levels": R("agent.md 3", "A line is safe, moderate or dangerous by rules."),
    "grants": R("agent.md 3", "A grant covers its level or below; danger by exact text alone."),
    "grant-file": R("agent.md 3", "Standing grants are read anew at each use, mode 0600."),
    "gate": R("agent.md 3", "What runs was shown and recorded; no answer is a refusal."),
    "run-command": R("agent.md 3", "The model reads status and ends of streams; the record more."),
    "person-command": R("agent.md 3", "What a person typed runs without the gate, as theirs."),
    "models": R("agent.md 4", "Any OpenAI-compatible endpoint answers, or fails in one line."),
    "scripted-models": R("agent.md 4", "A script replays steps; a bad one is named by its line."),
    "written-calls": R("agent.md 4", "A call written as text is told from prose showing one."),
    "call-arguments": R("agent.md 4", "Arguments are read strictly; a fault can be acted on."),
    "chat-model-suite": R("style.md 1", "Every model passes one suite, a broken one does not."),
    "respond": R("agent.md 5", "A caller gets reply, receipt and checks in one round trip."),
    "chat-face": R("agent.md 6", "The reply on stdout, all else on stderr, numbers the same."),
    "tui": R("agent.md 7", "Every screen works at 80x24, without colour, by keys."),
    "agent-case": R("agent.md 8", "The case shows the missing entries and no existing one."),
    "turn-lines": R("receipts.md 3", "The lines under a reply stand in their order."),
    "cited-pages": R("receipts.md 3", "Handles in a reply that do not resolve are named."),
    "thread-runs": R("design.md 2", "A thread's pages are written under the run of its id."),
    "knowledge-tools": R("agent.md 3", "Pages are searched, read, recorded, resolved by handle."),
}

REQUIREMENTS = CORE | RECORD | TRANSCRIPTS | ENGINE | CLI | HOUSE | KNOWLEDGE | AGENT
