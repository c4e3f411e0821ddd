"""What every fuzz target shares: files built from fuzzed records, and what must hold.

A file is made of lines: mostly valid records of a format with some fields replaced,
between them torn ones, repeated ones, two on a line, and raw bytes. Then everything
that a reader promises whatever the bytes are is asserted (transcripts.md 1).
"""
# ruff: noqa: INP001

import copy
import io
import json
import re
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["counterfoil"]):
    from counterfoil.adapters.system.spool import FileSpool
    from counterfoil.adapters.transcripts.source import Source
    from counterfoil.core.errors import CounterfoilError
    from counterfoil.core.events import Event
    from counterfoil.core.receipt import fold_receipt
    from counterfoil.core.refs.entries import find_entry_references
    from counterfoil.core.refs.literals import Quotation, find_literals
    from counterfoil.core.refs.needles import flatten, needles_of
    from counterfoil.engine.check_transcript import TranscriptCheck
    from counterfoil.ports.transcripts import Measured, Recorded, Said, Transcript
    from counterfoil.wire.check import document
    from counterfoil.wire.events import decode_event, encode_event

TEXTS = (
    "", " ", "\0", "\ud800", "\u2028x\u0085", "\x1b[31mred\x1b[0m", "Exit code 1\n2 failed",
    "Exit code -9999999999", "[Request interrupted by user for tool use]",
    "The user doesn't want to proceed with this tool use. The tool use was rejected",
    "<tool_use_error>Sibling tool call errored</tool_use_error>", "User rejected tool use",
    "<bash-input>ls</bash-input>", "<bash-stdout>a</bash-stdout>", "<system-reminder>x",
    "<command-name>/go</command-name><command-args>x</command-args>",
    "<task-notification><task-id>b1</task-id><summary>failed with exit code 2</summary>",
    "<persisted-output>Output too large. Full output saved to: /x/../y.txt", "[3 lines truncated]",
    "     1→import os\n     2→x = 1", "src/a.py:12", "../../etc/passwd", "/home/ann/shop/src/a.py",
    'See src/a.py:2 and `src/b.py:900`. The output says "2 failed, 40 passed, none skipped".',
    "entries 1-3, 9 and 12, commit abcdef1, from https://docs.example.org/a(b).",
    "Here is the output:\n```\n2 failed, 40 passed, none skipped\n```\n", "cat src/a.py",
    "sed -n '1,2p' src/a.py", "git commit -m x", "[main abcdef1] x", "pytest -q > out; rm -r x",
    "Process exited with code 1\nOutput:\na\nb", "Process running with session ID 7", "toolu_1",
    "aborted by user", '{"output":"x","metadata":{"exit_code":2}}', "call_1", "agent-a1", "a1",
    "*** Begin Patch\n*** Update File: src/a.py\n+x\n*** End Patch", "2026-03-01T09:00:00Z",
    "2026-02-30T09:00:00.000Z", "2026-03-01T09:00:00.1234567+00:00", "é" * 40, "x" * 300,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53, 2**63, 2**64, 10**25, 1.5, -0.0, 1e300,
    [], {}, [[]], [None], {"": {}}, [{"type": "text", "text": "a"}], ["a", {"type": "x"}],
    {"type": "tool_result", "tool_use_id": "toolu_1"}, {"subagent": {"thread_spawn": 1}},
)  # fmt: skip


_FOLDER = Path("/tmp/counterfoil-fuzz")  # noqa: S108 - inputs of faults, for a person


class WrongError(AssertionError):
    """A promise was not kept."""


_last_file = [b""]
_reporters: list[Callable[[str], None]] = []


def hold(*, that: bool, what: str) -> None:
    """Raise unless the promise `what` was kept; with `--keep-going` report it and go on."""
    if that:
        return
    if not _reporters:
        raise WrongError(what)
    _reporters[0](what)


def file_of(provider: "atheris.FuzzedDataProvider", templates: Sequence[Any]) -> bytes:
    """Return the bytes of a file whose records are made of `templates`."""
    lines: list[bytes] = []
    for _ in range(40):
        if not provider.remaining_bytes():
            break
        lines.append(_line(provider, templates, lines))
        lines.append(
            provider.PickValueInList([b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b"\0\n", b""])
        )
    return b"".join(lines)


def _line(
    provider: "atheris.FuzzedDataProvider", templates: Sequence[Any], before: Sequence[bytes]
) -> bytes:
    kind = provider.ConsumeIntInRange(0, 15)
    if kind == 0:
        return bytes(provider.ConsumeBytes(provider.ConsumeIntInRange(0, 60)))
    if kind == 1 and before:
        return before[provider.ConsumeIntInRange(0, len(before) - 1)]
    record = _record(provider, templates)
    if kind == 2:  # noqa: PLR2004 - a kind of line
        return record[: provider.ConsumeIntInRange(0, len(record))]
    if kind == 3:  # noqa: PLR2004 - a kind of line
        return record + _record(provider, templates)
    if kind == 4:  # noqa: PLR2004 - a kind of line
        at = provider.ConsumeIntInRange(0, len(record))
        return record[:at] + bytes(provider.ConsumeBytes(2)) + record[at:]
    return record


def _record(provider: "atheris.FuzzedDataProvider", templates: Sequence[Any]) -> bytes:
    record = copy.deepcopy(templates[provider.ConsumeIntInRange(0, len(templates) - 1)])
    for _ in range(provider.ConsumeIntInRange(0, 3)):
        places = list(_places(record))
        if not places:
            break
        holder, key = places[provider.ConsumeIntInRange(0, len(places) - 1)]
        if provider.ConsumeIntInRange(0, 7) == 0 and isinstance(holder, dict):
            del holder[key]
        else:
            holder[key] = _value(provider)
    is_ascii = provider.ConsumeBool()
    return json.dumps(record, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")


def _places(value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def _value(provider: "atheris.FuzzedDataProvider") -> Any:  # noqa: ANN401 - JSON of any shape
    kind = provider.ConsumeIntInRange(0, 4)
    if kind <= 1:
        return TEXTS[provider.ConsumeIntInRange(0, len(TEXTS) - 1)]
    if kind == 2:  # noqa: PLR2004 - a kind of value
        return copy.deepcopy(VALUES[provider.ConsumeIntInRange(0, len(VALUES) - 1)])
    if kind == 3:  # noqa: PLR2004 - a kind of value
        return provider.ConsumeUnicode(provider.ConsumeIntInRange(0, 60))
    return provider.ConsumeInt(9)


def check_file(content: bytes, opened: Callable[[Source], Transcript]) -> None:
    """Read and check `content` and assert what holds for every file."""
    _last_file[0] = content
    source = Source("fuzz", None, "fuzz", lambda: io.BytesIO(content))
    try:
        transcript = opened(source)
        items = list(transcript.items())
        _check_items(content, items)
        _check_whole(transcript, items)
    except CounterfoilError:
        return


def _check_items(content: bytes, items: Sequence[object]) -> None:
    measured = [item for item in items if isinstance(item, Measured)]
    hold(that=len(measured) == 1 and items[-1] is measured[0], what="one Measured, the last item")
    hold(that=measured[0].size == len(content), what="every byte is counted")
    lines = content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
    hold(that=measured[0].lines == lines, what="every line is counted")
    for item in items:
        if isinstance(item, Recorded):
            _check_event(item.event)
        elif isinstance(item, Said):
            check_text(item.text)


def _check_event(event: Event) -> None:
    try:
        written = encode_event(event)
    except Exception as error:  # noqa: BLE001 - whatever it is, the event cannot be kept
        hold(that=False, what=f"{type(error).__name__} ({error}) writing {event}")
        return
    found = decode_event(written)
    hold(that=found == event, what=f"read back as {found}: {event}")
    hold(that=not isinstance(found, Event) or encode_event(found) == written, what="one form")


def _check_whole(transcript: Transcript, items: Sequence[object]) -> None:
    events: dict[tuple[str, int | None], list[Event]] = defaultdict(list)
    late: set[tuple[str, int | None]] = set()
    latest: dict[str, int] = defaultdict(int)
    for item in items:
        if isinstance(item, Recorded):
            event = item.event
            key = (str(event.thread), event.turn)
            events[key].append(event)
            if event.turn is not None and event.turn < latest[event.thread]:
                late.add(key)
            latest[event.thread] = max(latest[event.thread], event.turn or 0)
    with closing(FileSpool[Any](2)) as spool:
        check = TranscriptCheck(transcript, spool)
        check.read()
        turns = list(check.turns())
        json.loads(b"".join(document(check.source(), check.summary(), check.caveats(), turns)))
        check.summary()
    texts = {item.text for item in items if isinstance(item, Said)}
    for turn in turns:
        key = (str(turn.thread), turn.turn)
        folded = fold_receipt(events[key], turn.thread, turn.turn)
        hold(that=key in late or folded == turn.receipt, what=f"{turn.receipt} folds to {folded}")
        for reference in turn.references:
            place = reference.place
            spans = (text[place.start : place.end][:300] for text in texts)
            hold(that=reference.text in spans, what=f"{reference} is what stands at its span")


def check_text(text: str) -> None:
    """Read the references of `text` and assert that each is what stands at its span."""
    done = 0
    for reference in find_entry_references(text):
        start, end = reference.span
        hold(that=done <= start < end <= len(text), what=f"{reference} in bounds, in order")
        hold(that=text[start:end].lower().startswith("entr"), what=f"{reference} begins")
        hold(that=all(low <= high for low, high in reference.items), what=f"{reference} ordered")
        done = end
    last = (0, 0)
    for literal in find_literals(text):
        start, end = literal.span
        hold(
            that=0 <= start < end <= len(text) and last <= literal.span, what=f"{literal} in order"
        )
        last = literal.span
        if isinstance(literal, Quotation):
            hold(that=all(one in text for one in literal.pieces), what=f"{literal} is quoted")
        needles_of(literal)
    flat = flatten(text)
    hold(that=flat == flat.strip() and "\n" not in flat, what="a flat text has no layout")


def run(target: Callable[[bytes], None]) -> None:
    """Fuzz `target`; with `--keep-going` faults are printed once each, inputs kept."""
    arguments = [sys.argv[0], "-len_control=0", "-max_len=3000", *sys.argv[1:]]
    if "--keep-going" in arguments:
        arguments.remove("--keep-going")
        target = _keeping_going(target)
    atheris.Setup(arguments, target)
    atheris.Fuzz()


def _keeping_going(target: Callable[[bytes], None]) -> Callable[[bytes], None]:
    seen: set[str] = set()
    current = [b""]

    def report(what: str, trace: str = "") -> None:
        key = trace or re.sub(r"\d+", "", what)[:60]
        if key in seen:
            return
        seen.add(key)
        name = sha256(current[0]).hexdigest()[:12]
        _FOLDER.mkdir(exist_ok=True)
        (_FOLDER / name).write_bytes(current[0])
        (_FOLDER / f"{name}.jsonl").write_bytes(_last_file[0])
        sys.stderr.write(f"\n=== FAULT {name} {Path(sys.argv[0]).name}\n{trace}{what[:600]}\n===\n")

    def keep(data: bytes) -> None:
        current[0] = data
        try:
            target(data)
        except Exception as error:  # noqa: BLE001 - each kind of fault is shown once
            frames = traceback.extract_tb(error.__traceback__)[-3:]
            report(f"{type(error).__name__}: {error}", "".join(traceback.format_list(frames)))

    _reporters.append(report)
    return keep
