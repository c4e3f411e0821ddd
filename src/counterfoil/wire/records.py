"""The records that a store keeps of what was done to it, in canonical JSON.

```text
.counterfoil/promotions/<digest>.json
    {schema, run, actor, reason, promotedAt, entries: [{id, path, origin, digest, role}]}
.counterfoil/migrations/<digest>.json
    {schema, run, actor, reason, switchedAt, chain, resolutions, compared}
```

A record is named by the digest of its bytes, so that one that was changed is known by
its name.
"""

from counterfoil.core.canonical import Json, canonical_bytes
from counterfoil.core.knowledge.migration import SwitchRecord
from counterfoil.core.knowledge.promotion import PromotedPage, PromotionRecord

SCHEMA = 1


def encode_promotion(record: PromotionRecord) -> bytes:
    """Return the canonical bytes of `record`."""
    return canonical_bytes(
        {
            "schema": SCHEMA,
            "run": record.run,
            "actor": record.actor,
            "reason": record.reason,
            "promotedAt": record.promoted_at,
            "entries": [_entry(page) for page in record.pages],
        }
    )


def _entry(promoted: PromotedPage) -> Json:
    origin, page = promoted.source
    return {
        "id": page.id,
        "path": page.path,
        "origin": origin,
        "digest": promoted.digest,
        "role": promoted.role,
    }


def encode_switch(record: SwitchRecord) -> bytes:
    """Return the canonical bytes of `record`."""
    return canonical_bytes(
        {
            "schema": SCHEMA,
            "run": record.run,
            "actor": record.actor,
            "reason": record.reason,
            "switchedAt": record.switched_at,
            "chain": record.chain,
            "resolutions": record.resolutions,
            "compared": record.compared,
        }
    )
