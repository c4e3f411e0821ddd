"""Fuzz the reading and checking of our own events as JSON Lines.

python fuzz/counterfoil_events.py -max_total_time=60
"""
# ruff: noqa: INP001

import atheris

from targets import check_file, file_of, run  # isort: skip - it instruments what it imports

with atheris.instrument_imports(include=["counterfoil"]):
    from counterfoil.adapters.transcripts.counterfoil import CounterfoilTranscript
    from counterfoil.adapters.transcripts.formats import open_transcript
    from counterfoil.core.events import CommandExited, PromptReceived, ReplyGiven
    from counterfoil.testing.samples import PAYLOADS, sample_fact
    from counterfoil.wire.events import event_to_json

_OURS = (
    PromptReceived(text="What was in entry 1?", source="person"),
    CommandExited(command="cat src/a.py", exit_status=0, stdout="x\ny\n"),
    ReplyGiven(text="Entries 1, 3-5 and 99 say so; see src/a.py:2, and src/a.py:900."),
)
_SHORT = tuple(payload for payload in PAYLOADS if len(repr(payload)) < 1_000)  # noqa: PLR2004
_TEMPLATES = tuple(
    event_to_json(sample_fact(number, payload, turn=turn).at(number))
    for turn in (1, 2)
    for number, payload in enumerate((*_SHORT, *_OURS), start=1 + 100 * (turn - 1))
)


def fuzz(data: bytes) -> None:
    """Read a file made of `data`, as this format and as whatever it looks like."""
    provider = atheris.FuzzedDataProvider(data)
    is_told = provider.ConsumeBool()
    content = file_of(provider, _TEMPLATES)
    check_file(content, open_transcript if is_told else CounterfoilTranscript)


if __name__ == "__main__":
    run(fuzz)
