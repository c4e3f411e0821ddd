"""The `ran:` line under a reply: what the agent's tools did, from the same events.

What a person typed is not what the agent ran; output text is never read.
"""

from collections import Counter
from collections.abc import Iterable

from counterfoil.core.events import Event, Outcome
from counterfoil.core.turns import TurnFacts

SHOWN_TOOLS = 6
"""Tools that the line names; the rest are counted in `+K more`."""

_WORDS = ("failed", "denied", "declined", "cancelled", "interrupted", "unknown")
_BY_OUTCOME: dict[Outcome, str] = {
    "denied": "denied",
    "error": "failed",
    "cancelled": "cancelled",
    "interrupted": "interrupted",
}


def ran_line(
    events: Iterable[Event], thread: str, turn: int, *, reply: str | None, tools: Iterable[str]
) -> str | None:
    """Return the line of `turn`, or `None` when there is none.

    `reply` is the text that was given and `tools` the names that `thread_opened`
    recorded: a turn without calls has a line only when the reply names one of them.
    """
    facts = TurnFacts(thread, turn)
    facts.add_all(events)
    return ran_of(facts, reply=reply, tools=tools)


def ran_of(facts: TurnFacts, *, reply: str | None, tools: Iterable[str]) -> str | None:
    """Return the line that `facts` make, or `None`."""
    counts: dict[str, Counter[str]] = {}
    for call in facts.calls:
        counts.setdefault(call.tool, Counter())[_word(facts, call.id, call.outcome)] += 1
    if not counts:
        named = reply is not None and any(_names(reply, tool) for tool in tools)
        return "ran: no tools" if named else None
    parts = [_part(tool, words) for tool, words in list(counts.items())[:SHOWN_TOOLS]]
    if len(counts) > SHOWN_TOOLS:
        parts.append(f"+{len(counts) - SHOWN_TOOLS} more")
    return f"ran: {' · '.join(parts)}"


def _word(facts: TurnFacts, call: str | None, outcome: Outcome | None) -> str:
    """Say how a call ended, the first that matches; "" is fine (receipts.md section 2)."""
    if call in facts.declined:
        return "declined"
    if call in facts.denied or outcome == "denied":
        return "denied"
    if call in facts.failed:
        return "failed"
    return "unknown" if outcome is None else _BY_OUTCOME.get(outcome, "")


def _part(tool: str, words: Counter[str]) -> str:
    total = words.total()
    times = f" ×{total}" if total > 1 else ""
    notable = ", ".join(f"{words[word]} {word}" for word in _WORDS if words[word])
    return f"{tool}{times} ({notable})" if notable else f"{tool}{times}"


def _names(text: str, word: str) -> bool:
    """Say whether `word` stands in `text` with no letter, digit or `_` beside it."""
    start = text.find(word) if word else -1
    while start >= 0:
        end = start + len(word)
        if not (_continues(text[start - 1 : start]) or _continues(text[end : end + 1])):
            return True
        start = text.find(word, start + 1)
    return False


def _continues(character: str) -> bool:
    return character == "_" or character.isalnum()
