"""What a reply has in double brackets: the links of a page's body, read as those are.

Not in code, comments or math, and not what a backslash takes its meaning from
(knowledge.md section 1, "Body"). Whether it is meant as a handle is for `cited_pages`.
"""

from counterfoil.core.refs.cited_pages import Bracketed
from counterfoil.wire.page_body import find_references

_OPENING = "[["


def find_bracketed(reply: str) -> tuple[Bracketed, ...]:
    """Return what stands in double brackets in `reply`, in its order.

    >>> find_bracketed("See [[alpha#Limits|there]], not `[[beta]]`.")
    (Bracketed(handle='alpha', whole='alpha#Limits', is_spaced=False),)
    """
    if _OPENING not in reply:
        return ()
    text = reply.encode("utf-8", "replace").decode()
    lines = text.split("\n")
    found: list[Bracketed] = []
    for link in find_references(text).links:
        line = lines[link.line - 1]
        start = link.column - 1 + link.is_embed + len(_OPENING)
        inner = line[start : line.find("]]", start)]  # and no more: a line may hold thousands
        named = inner.partition("|")[0].removesuffix("\\")
        found.append(Bracketed(link.target, named.strip(), inner[:1].isspace()))
    return tuple(found)
