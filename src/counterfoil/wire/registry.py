"""The registry of a store's sources, as far as references to sources need it.

```json
{"schema": 1, "sources": [{"id": "s1", "digest": "sha256:…", "anchors": [{"id": "l1"}]}]}
```
"""

from collections import defaultdict

from counterfoil.core.knowledge.view import SourceRegistry
from counterfoil.wire.json_values import is_list, is_object
from counterfoil.wire.strict_json import Malformed, read_json


def read_registry(content: bytes | None) -> SourceRegistry:
    """Return the sources that `content` registers; no file registers none.

    What is no registry is one that says so: nothing is known of its sources then.
    """
    if content is None:
        return SourceRegistry()
    value = read_json(content)
    if isinstance(value, Malformed):
        return _broken(f"it is no JSON that can be read ({value.reason})")
    if not is_object(value) or value.get("schema") != 1 or not is_list(value.get("sources")):
        return _broken('it is not of the form {"schema": 1, "sources": […]}')
    anchors: dict[str, frozenset[str]] = {}
    by_digest: defaultdict[str, list[str]] = defaultdict(list)
    for place, row in enumerate(value["sources"], start=1):
        found = _source(row)
        if found is None:
            return _broken(f"source {place} has no id, or anchors without one")
        source, digest, names = found
        if source in anchors:
            return _broken(f"source {source!r} stands in it twice")
        anchors[source] = names
        if digest is not None:
            by_digest[digest].append(source)
    repeated = tuple(
        (digest, tuple(sources)) for digest, sources in by_digest.items() if len(sources) > 1
    )
    return SourceRegistry(anchors=anchors, repeated=repeated)


def _source(row: object) -> tuple[str, str | None, frozenset[str]] | None:
    if not is_object(row) or not isinstance(row.get("id"), str):
        return None
    anchors: object = row.get("anchors") or []
    if not is_list(anchors):
        return None
    names = [anchor.get("id") if is_object(anchor) else None for anchor in anchors]
    if not all(isinstance(name, str) for name in names):
        return None
    digest = row.get("digest")
    return row["id"], digest if isinstance(digest, str) else None, frozenset(map(str, names))


def _broken(why: str) -> SourceRegistry:
    return SourceRegistry(fault=f"the registry of sources cannot be used: {why}")
