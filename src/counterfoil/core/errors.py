"""The one error family, drawn as a tree.

```text
CounterfoilError
├── InvalidIdError              an id that no thread, run, page or entry can have
├── UnreadableError             an input that cannot be read as what it should be
│   └── DamagedLedgerError      a ledger whose bytes are not what was recorded
├── NotFoundError               a thing asked for by name that is not there
├── ConflictError               two writers, or two ids that differ only in case
│   └── LineageConflictError    two parents declared for one run
├── UnavailableError            a store, model or library that is not to be had now
│   └── ContextOverflowError    a request that does not fit into the model's window
└── UnresolvedReferencesError   raised by asserting forms alone, with the rows
```

An error carries what was found, what was expected and what to do. A missing or
ambiguous reference, a torn line and a bad page are data, never exceptions
(design.md section 6).
"""

from collections.abc import Sequence


class CounterfoilError(Exception):
    """Misuse, conflict, damage or unavailability; never a finding."""

    def __init__(self, found: str, expected: str = "", advice: str = "") -> None:
        """Say what was `found`, what was `expected` and, as `advice`, what to do."""
        super().__init__(found, expected, advice)
        self.found = found
        self.expected = expected
        self.advice = advice

    def diagnosis(self) -> str:
        """Return the one line that a person reads."""
        line = f"{self.found}; expected {self.expected}" if self.expected else self.found
        return f"{line} (hint: {self.advice})" if self.advice else line

    def __str__(self) -> str:
        """Read like the diagnosis, so that no face has to know the family."""
        return self.diagnosis()


class InvalidIdError(CounterfoilError):
    """An id was refused where it was made."""


class UnreadableError(CounterfoilError):
    """An input cannot be read as what it should be."""


class DamagedLedgerError(UnreadableError):
    """A ledger's bytes are not what was recorded."""


class NotFoundError(CounterfoilError):
    """A thing asked for by name is not there."""


class ConflictError(CounterfoilError):
    """Somebody else holds or made what was asked for."""


class LineageConflictError(ConflictError):
    """A run was given a second parent."""


class UnavailableError(CounterfoilError):
    """A store, a model or a library cannot be had now."""


class ContextOverflowError(UnavailableError):
    """A request does not fit into the model's window, whatever is left out."""


class UnresolvedReferencesError(CounterfoilError):
    """An asserting form met references that do not resolve."""

    def __init__(self, rows: Sequence[object]) -> None:
        """Carry the unresolved `rows`, missing ones first."""
        super().__init__(f"{len(rows)} references do not resolve")
        self.rows = tuple(rows)
