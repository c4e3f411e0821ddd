"""Where standing grants are kept: approvals that outlive the thread they were given in."""

from collections.abc import Sequence
from typing import Protocol

from counterfoil.core.gate.grants import Grant


class StandingGrants(Protocol):
    """Keeps the grants of the scopes `project` and `always`.

    They are read anew whenever they are asked for, so that one revoked by another
    process covers nothing any more.
    """

    def grants(self) -> Sequence[Grant]:
        """Return every grant, in the order in which they were given, expired ones too.

        Raises:
            UnreadableError: What is kept is damaged, or others can write it; nothing of
                it counts as a grant.
            UnavailableError: It cannot be read now.
        """
        ...

    def add(self, grant: Grant) -> None:
        """Keep `grant`; it is on the disk on return. Raise what `grants` does."""
        ...

    def revoke(self, grant_id: str) -> bool:
        """Take away the grant of this id; say whether there was one. Raise as `grants`."""
        ...
