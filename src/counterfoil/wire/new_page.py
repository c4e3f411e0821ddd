r"""The text of a page out of its parts.

What the body brings along as frontmatter stays, but for the fields that are given.

>>> from counterfoil.core.ids import PageId
>>> page = NewPage(id=PageId("a"), title="A: b", body="Text.", cites=("shared::b",))
>>> print(write_page(page), end="")
---
id: a
title: "A: b"
cites: [shared::b]
---
Text.
"""

from counterfoil.core.knowledge.new_page import NewPage
from counterfoil.wire.frontmatter_rewrite import FieldValue, rewrite_field


def write_page(page: NewPage) -> str:
    """Return the text of `page`.

    Raises:
        UnreadableError: Its body begins with frontmatter that cannot be read.
    """
    fields: list[tuple[str, FieldValue]] = [("id", page.id), ("title", page.title)]
    if page.cites:
        fields.append(("cites", page.cites))
    content = page.body.encode("utf-8", "replace")
    for field, value in fields:
        content = rewrite_field(content, field, value)
    text = content.decode()
    return text if text.endswith("\n") else f"{text}\n"
