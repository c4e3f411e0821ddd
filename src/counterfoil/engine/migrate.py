"""Compare with another implementation, and switch over once nothing differs.

Comparing changes nothing. Switching compares again while the store is held, so that
what was compared is what is switched, and leaves a record that names by their digests
the pages and the resolutions that agreed (knowledge.md section 8).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from counterfoil.core.digests import digest_hex, tagged_digest
from counterfoil.core.errors import ConflictError, CounterfoilError
from counterfoil.core.ids import HERE, Origin
from counterfoil.core.knowledge.chain import ChainSnapshot
from counterfoil.core.knowledge.changes import ABSENT, KEPT, FileChange, StorePath
from counterfoil.core.knowledge.judged import Judged
from counterfoil.core.knowledge.migration import (
    MigrationReport,
    SwitchRecord,
    compare_resolutions,
)
from counterfoil.ports.store_writes import StoreWriter

MIGRATIONS = f"{KEPT}/migrations"
"""Where a store keeps the record of each switch, named by its digest."""


class Resolutions(Protocol):
    """What another implementation resolved, and the digest of the file that says so."""

    @property
    def judged(self) -> tuple[Judged, ...]:
        """The citations that it resolved, each once."""
        ...

    @property
    def digest(self) -> str:
        """The tagged digest of the file."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Dual:
    """Two readings of the same stores: ours, through `load_chain`, and `theirs`.

    `origins` are those whose pages are compared. Where `frozen` is given, the pages must
    be those that have this digest.
    """

    load_chain: Callable[[], ChainSnapshot]
    theirs: Resolutions
    origins: Sequence[Origin] = (HERE,)
    frozen: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """Where a switch is recorded, by whom, why and when (an instant in UTC)."""

    writer: StoreWriter
    encode: Callable[[SwitchRecord], bytes]
    actor: str
    reason: str
    now: str


@dataclass(frozen=True, slots=True)
class SwitchOutcome:
    """What was compared, and the digest of the record; `None` where nothing was switched."""

    report: MigrationReport
    record: str | None = None


def migrate(dual: Dual) -> MigrationReport:
    """Return how the two readings differ; nothing is written.

    Raises:
        ConflictError: The pages are not those that were to be frozen.
    """
    return _compared(dual, dual.load_chain())


def switch_over(dual: Dual, switch: Switch) -> SwitchOutcome:
    """Record that these stores are the owner now, if the two readings do not differ.

    Raises:
        CounterfoilError: No actor or no reason is given.
        ConflictError: The pages are not those that were to be frozen, or another writer
            holds the store.
        UnavailableError: The store cannot be written.
    """
    for name, text in (("actor", switch.actor), ("reason", switch.reason)):
        if not text.strip():
            raise CounterfoilError(f"{name} is {text!r}", "a text that is not blank")
    with switch.writer.exclusively(purpose="switch over"):
        chain = dual.load_chain()
        report = _compared(dual, chain)
        if report.outcome != "same":
            return SwitchOutcome(report)
        record = switch.encode(
            SwitchRecord(
                run=chain.run,
                actor=switch.actor,
                reason=switch.reason,
                switched_at=switch.now,
                chain=report.chain,
                resolutions=dual.theirs.digest,
                compared=report.compared,
            )
        )
        return SwitchOutcome(report, _recorded(switch.writer, record))


def _compared(dual: Dual, chain: ChainSnapshot) -> MigrationReport:
    if dual.frozen is not None and chain.digest != dual.frozen:
        raise ConflictError(
            f"the pages have the digest {chain.digest}",
            f"{dual.frozen}, that of the pages that both are to read",
            "run both over the same copy, which nobody writes to",
        )
    return compare_resolutions(chain, dual.theirs.judged, origins=dual.origins)


def _recorded(writer: StoreWriter, record: bytes) -> str:
    digest = tagged_digest(record)
    path = StorePath(f"{MIGRATIONS}/{digest_hex(digest)}.json")
    writer.apply([FileChange(path=path, after=record, expected=ABSENT)], purpose="switch over")
    return digest
