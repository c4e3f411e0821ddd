"""What stands for an old tool output in what the model reads: a reference to its entry.

`[output of entry 7 not repeated: read_file at 14:05:09, ok, 120 lines, 4,310 bytes; to see
it: memory "recall entry 7"]`, then the arguments and the first and last line of content,
640 bytes in all (agent.md section 2). Everything in it comes from the record, so that what
was sent can be written again at any time.
"""

from dataclasses import dataclass

from counterfoil.core.paging import lines_of

MOST_BYTES = 640
"""Bytes of a reference; what is past them is cut."""

ARGUMENTS, LINE = 200, 100
"""Characters of the arguments, and of a line, that a reference shows."""

_NO_CONTENT = ("exit status: ", "stdout:", "stderr:", "[more: ", "[end", "[cut", "timed out")
"""How lines begin that a tool adds to the content: headings, hints, marks of the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OldOutput:
    """A tool output of an earlier turn; `at` is the time of its result, as recorded."""

    entry: int
    tool: str
    at: str
    status: str
    arguments: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalling:
    """How a model may see an old output again: by the `memory` tool, or by a new call."""

    has_memory: bool
    reading_tools: frozenset[str] = frozenset()


def shown_output(output: OldOutput, recalling: Recalling) -> str:
    """Return what a later turn reads of `output`: its reference, or itself if that is shorter."""
    reference = output_reference(output, recalling)
    return reference if _size(reference) < _size(output.text) else output.text


def output_reference(output: OldOutput, recalling: Recalling) -> str:
    """Return the reference to `output`, at most 640 bytes."""
    lines = lines_of(output.text)
    head = (
        f"[output of entry {output.entry} not repeated: {output.tool} at {output.at[11:19]},"
        f" {output.status}, {len(lines):,} lines, {_size(output.text):,} bytes;"
        f" {_way_back(output, recalling)}]"
    )
    content = [line for line in lines if line.strip() and not line.startswith(_NO_CONTENT)]
    rows = [head, f"arguments: {_cut(output.arguments, ARGUMENTS)}"]
    if content:
        rows.append(f"first line: {_cut(content[0], LINE)}")
    if len(content) > 1:
        rows.append(f"last line: {_cut(content[-1], LINE)}")
    return cut_to_bytes("\n".join(rows), MOST_BYTES)


def cut_to_bytes(text: str, most: int) -> str:
    """Return `text`, or as much of it as `most` bytes of UTF-8 hold, with `…` at its end."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= most:
        return text
    kept = encoded[: most - len("…".encode())].decode("utf-8", "ignore")
    return f"{kept}…"


def _way_back(output: OldOutput, recalling: Recalling) -> str:
    if recalling.has_memory:
        return f'to see it: memory "recall entry {output.entry}"'
    if output.tool in recalling.reading_tools:
        return f"{output.tool} may be called again"
    return "do not run it again only to see it"


def _cut(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
