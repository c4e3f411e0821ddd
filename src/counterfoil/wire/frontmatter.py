"""The frontmatter of a page: where it stands, what it says and, when asked, how it is written.

```text
page    = blank lines · "---" · lines · ("---" | "...") · body
```

The lines of `---` hold nothing else, no white space either; of a block that is never
closed the whole text is body. What is no YAML is a value with its place, never an
exception. Values are read at once; places and written text need another reader, and are
looked up when the first is asked for (knowledge.md section 1).
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from counterfoil.core.knowledge.pages import Fault, FrontmatterState, TextSpot
from counterfoil.wire.yaml_tree import Node, YamlFault
from counterfoil.wire.yaml_values import read_tree, read_yaml

_SHOWN = 200
"""Characters of the source of a list or mapping that a finding shows; the rest is cut."""


class Block(NamedTuple):
    """Where frontmatter stands: offsets of its lines and the body, and their first lines.

    `end` is where the lines end and the closing begins; none where nothing closes them.
    """

    start: int
    end: int | None
    line: int
    body_start: int
    body_line: int


def find_block(text: str) -> Block | None:
    """Return where the frontmatter of `text` stands, which has no BOM, if it opens one."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    start = opening.end()
    line = 2 + (text.count("\n", 0, start - 1) if opening.start(1) else 0)
    closing = _CLOSING.search(text, start - 1)
    if closing is None:
        return Block(start, None, line, 0, 1)
    end = closing.start() + 1
    body_start = min(closing.end() + 1, len(text))
    return Block(start, end, line, body_start, line + text.count("\n", start, body_start))


_OPENING = re.compile(r"(?:[ \t]*+\r?\n)*+(---)\r?(?:\n|\Z)")
_CLOSING = re.compile(r"\n(?:---|\.\.\.)\r?(?=\n|\Z)")
_COMMENT = re.compile(r"[ \t]*+:[ \t]++(#[^\r\n]*)")


class Frontmatter:
    """The frontmatter of one page: `values` as JSON has them, or `faults` that say why not.

    Without a block, and of a bad one, the values are empty.
    """

    __slots__ = ("_pairs", "block", "faults", "lines", "state", "values")

    def __init__(self, text: str) -> None:
        """Read the frontmatter of `text`, which has no BOM."""
        self.state: FrontmatterState = "none"
        self.values: Mapping[str, object] = {}
        self.faults: tuple[Fault, ...] = ()
        self.block = find_block(text)
        self.lines = ""
        self._pairs: Mapping[str, tuple[Node, Node]] | None = None
        if self.block is not None:
            self._read(text, self.block)

    def written(self, field: str, item: int | None = None) -> str:
        """Return the text of a scalar as it is written, or the source of anything else."""
        node = self._node(field, item)
        if node is None:
            return str(self.values.get(field, ""))
        node = node.meant
        if node.kind == "scalar":
            return node.text
        return self.lines[node.start : node.end].replace("\r\n", "\n")[:_SHOWN]

    def is_plain(self, field: str) -> bool:
        """Say whether the value of `field` is a scalar without quotes and without a tag."""
        node = self._node(field, None)
        return node is not None and node.meant.is_plain and node.meant.tag is None

    def comment(self, field: str) -> str:
        """Return the comment that stands where the value of `field` should; else nothing."""
        pair = self.pairs().get(field)
        found = pair and _COMMENT.match(self.lines, pair[0].end)
        return found.group(1) if found else ""

    def place(self, field: str, item: int | None = None) -> TextSpot:
        """Return where in the file `field` or an item of it stands; else the first line."""
        pair = self.pairs().get(field)
        node = pair[0] if pair and item is None else self._node(field, item)
        if node is None or self.block is None:
            return TextSpot(1)
        return TextSpot(self.block.line + node.line, node.column + 1)

    def root(self) -> Node | None:
        """Return the mapping with its places; nothing where there is none to be read."""
        root = read_tree(self.lines) if self.state == "read" else None
        return root if isinstance(root, Node) else None

    def pairs(self) -> Mapping[str, tuple[Node, Node]]:
        """Return key and value of each field, with their places; nothing of bad frontmatter."""
        if self._pairs is None:
            root = self.root()
            pairs = root.pairs() if root else ()
            self._pairs = {key.meant.text: (key, value) for key, value in pairs}
        return self._pairs

    def _node(self, field: str, item: int | None) -> Node | None:
        pair = self.pairs().get(field)
        if pair is None or item is None or pair[1].meant.kind != "list":
            return pair and pair[1]
        items = pair[1].meant.items
        return items[item] if item < len(items) else pair[1]

    def _read(self, text: str, block: Block) -> None:
        if block.end is None:
            self._refuse(TextSpot(block.line - 1), _UNCLOSED)
            return
        self.lines = text[block.start : block.end]
        found = read_yaml(self.lines)
        if isinstance(found, YamlFault):
            spot = TextSpot(block.line + found.line, found.column + 1)
            self._refuse(spot, _UNREAD.format(found.message))
        else:
            self.state, self.values = "read", found

    def _refuse(self, spot: TextSpot, message: str) -> None:
        self.state = "bad"
        self.faults = (Fault("bad-frontmatter", spot, "", message),)


_UNCLOSED = "the frontmatter is never closed; expected a line that is exactly `---`"
_UNREAD = "the frontmatter cannot be read: {}; expected YAML 1.2, a text in quotes where in doubt"
