"""What a person has allowed beyond the one command that they were asked about.

A grant covers commands of its pattern, of its level or below, in its directory where it
has one, until it expires. Patterns are compared, never matched: that of a command is
worked out and has to be the grant's. What is dangerous is covered by its exact text
alone, and by no standing grant (agent.md section 3).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from counterfoil.core.gate.commands import written
from counterfoil.core.gate.reading import SHELLS, Part
from counterfoil.core.gate.scale import Level, is_below
from counterfoil.core.gate.tables import AWKS, INTERPRETERS
from counterfoil.core.gate.verbs import VERBED, verb_of

Scope = Literal["once", "turn", "session", "project", "always"]
"""How far an approval reaches: this command, the turn, the thread, a directory, everywhere."""

STANDING: frozenset[Scope] = frozenset({"project", "always"})
"""The scopes that outlive a thread."""

STANDING_DAYS = 30
"""Days after which a standing grant covers nothing any more."""

_EXACT = frozenset({".", "source", "exec", "eval", "trap", "watch"})


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a grant is about: a program with its verb, or one text `is_exact`."""

    text: str
    is_exact: bool = False

    def __str__(self) -> str:
        """Return the text, which is what a person is shown."""
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """An approval that is remembered.

    `directory` is `None` for everywhere; a standing grant has a time at which it expires.
    `source` says who gave it, and where.
    """

    id: str
    pattern: Pattern
    level: Level
    scope: Scope
    directory: str | None = None
    granted_at: str
    expires_at: str | None = None
    source: str = "person"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What has to be covered: a pattern, its level, and where and when it is to run."""

    pattern: Pattern
    level: Level
    directory: str = field(kw_only=True)
    now: str = field(kw_only=True)


def pattern_of(part: Part, level: Level) -> Pattern:
    """Return under which pattern `part`, which is of `level`, is remembered."""
    if level == "dangerous" or _is_told_code(part) or not part.words:
        return Pattern(part.text, is_exact=True)
    program = written(part.words[:1])
    if part.program not in VERBED:
        return Pattern(f"{program} *")
    verb = verb_of(part.program, part.words[1:])
    if verb is None:
        return Pattern(part.text, is_exact=True)
    return Pattern(f"{program} {verb.name} *")


def _is_told_code(part: Part) -> bool:
    """Say whether what `part` does stands in its words, or in a file that they name."""
    program = part.program.rstrip("0123456789.")
    is_interpreter = program in SHELLS or program in INTERPRETERS or program in AWKS
    is_odd = part.program in _EXACT or part.is_fed or part.is_opaque
    return is_interpreter or is_odd or part.code != "none" or any(part.assignments)


def covering(grants: Iterable[Grant], wanted: Wanted) -> Grant | None:
    """Return the first of `grants` that covers what is `wanted`."""
    return next((grant for grant in grants if covers(grant, wanted)), None)


def covers(grant: Grant, wanted: Wanted) -> bool:
    """Say whether `grant` covers what is `wanted`.

    Times are compared as texts, so they have to be of one form: RFC 3339, UTC,
    milliseconds.
    """
    if grant.pattern != wanted.pattern or is_below(grant.level, wanted.level):
        return False
    if wanted.level == "dangerous" and (grant.scope in STANDING or not grant.pattern.is_exact):
        return False
    if grant.scope == "project" and grant.directory is None:
        return False
    if grant.directory is not None and grant.directory != wanted.directory:
        return False
    if grant.scope in STANDING and grant.expires_at is None:
        return False
    return grant.expires_at is None or wanted.now < grant.expires_at


def downgraded(scope: Scope, level: Level) -> Scope:
    """Return the scope that an answer gets: what is dangerous never stands."""
    return "session" if level == "dangerous" and scope in STANDING else scope


@dataclass(slots=True)
class ThreadGrants:
    """The grants of one thread: those of its running turn, and those until it closes.

    They are kept here and nowhere else: a thread that is resumed begins without.
    """

    turn: int = 0
    _of_turn: list[Grant] = field(default_factory=list[Grant])
    _of_thread: list[Grant] = field(default_factory=list[Grant])

    def begin_turn(self, turn: int) -> None:
        """Forget what was allowed for an earlier turn than `turn`."""
        if turn != self.turn:
            self.turn = turn
            self._of_turn.clear()

    def remember(self, grant: Grant) -> None:
        """Keep `grant`, as long as its scope says; `once` is as long as the turn."""
        if grant.scope in {"once", "turn"}:
            self._of_turn.append(replace(grant, scope="turn"))
        else:
            self._of_thread.append(replace(grant, scope="session"))

    def revoke(self, grant_id: str) -> bool:
        """Forget the grant of this id; say whether there was one."""
        before = len(self.grants())
        self._of_turn = [one for one in self._of_turn if one.id != grant_id]
        self._of_thread = [one for one in self._of_thread if one.id != grant_id]
        return len(self.grants()) < before

    def grants(self) -> tuple[Grant, ...]:
        """Return every grant, those of the thread first."""
        return (*self._of_thread, *self._of_turn)
