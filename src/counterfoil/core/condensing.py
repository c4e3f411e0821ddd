"""How much of a thread is dropped when it no longer fits into the model's window.

Due when context, prompt and headroom reach 85 % of the window; done when they are at
60 %, or when one literal turn is left (agent.md section 2). The headroom is the mean size
of the last eight turns. Sizes are in tokens, as the caller counts them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

DUE, GOAL = 0.85, 0.60
"""Shares of the window at which condensing begins, and to which it goes on."""

RECENT = 8
"""Turns whose mean size is the headroom."""

LITERAL = 1
"""Earlier turns that stay literal, however large they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a request would hold: `fixed` (instructions, tools), the prompt, and each turn.

    `turns` are the earlier turns that are still read, oldest first, as they are read;
    `whole` are their sizes with every output whole, of which the headroom is the mean.
    """

    window: int
    fixed: int
    prompt: int
    turns: Sequence[int]
    whole: Sequence[int]

    @property
    def headroom(self) -> int:
        """The mean size of the last eight turns; nothing before the first."""
        recent = self.whole[-RECENT:]
        return sum(recent) // len(recent) if recent else 0

    def total(self, kept: int) -> int:
        """Return the size with only the last `kept` turns."""
        turns = self.turns[len(self.turns) - kept :]
        return self.fixed + self.prompt + self.headroom + sum(turns)


def is_due(load: Load) -> bool:
    """Say whether `load` reaches the share at which condensing begins."""
    return load.total(len(load.turns)) >= DUE * load.window


def turns_to_keep(load: Load) -> int:
    """Return how many of the last turns stay, so that the goal is met or one is left."""
    kept = len(load.turns)
    total = load.total(kept)
    while kept > LITERAL and total > GOAL * load.window:
        total -= load.turns[len(load.turns) - kept]
        kept -= 1
    return kept
