"""Pages of whole lines, bounded in bytes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePage:
    """A page: its text, its first and last line, and the next one, `None` at the end."""

    text: str
    first: int
    last: int
    next_line: int | None


def page_of(text: str, from_line: int, limit: int) -> LinePage:
    """Return the lines of `text` from `from_line` on that fit into `limit` bytes."""
    lines = text.splitlines()
    kept: list[str] = []
    size = 0
    for line in lines[from_line - 1 :]:
        size += len(line.encode("utf-8", "surrogatepass")) + 1
        if kept and size > limit:
            break
        kept.append(line)
    last = from_line + len(kept) - 1
    return LinePage(
        text="\n".join(kept),
        first=from_line,
        last=last,
        next_line=last + 1 if last < len(lines) else None,
    )
