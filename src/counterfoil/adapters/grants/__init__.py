"""Standing grants in one JSON file for its owner alone, replaced whole under a lock.

```json
{"grants": [{"directory": null, "expiresAt": "2026-03-31T09:00:00.000Z",
             "grantedAt": "2026-03-01T09:00:00.000Z", "id": "00000000000000a1",
             "isExact": false, "level": "moderate", "pattern": "git push *",
             "scope": "always", "source": "person"}], "schema": 1}
```

A file that is no such thing, that is a link, or that others may write is refused whole:
nothing in it grants anything.
"""

from counterfoil.adapters.grants.file import GrantFile

__all__ = ["GrantFile"]
