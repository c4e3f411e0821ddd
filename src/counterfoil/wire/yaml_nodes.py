"""The careful reader of YAML: a tree with places, out of the events of PyYAML.

It knows where each node stands, how a scalar is written, and what an alias means. It is
asked where the fast reader cannot know: for the place of a finding, for the digits of
`007`, and for what the fast reader reads otherwise than YAML 1.2.

Refused, as a value with its place: more than one document, a key written twice, a tag
outside the core schema, an alias of nothing or of what holds it, aliases that unfold to
more than `UNFOLDED` nodes, more than `LEVELS` levels (knowledge.md section 1).
"""

import re
from typing import Any

import yaml

from counterfoil.wire.yaml_tree import Kind, Node, YamlFault, core_value

LEVELS = 100
"""Lists and mappings in one another; frontmatter that goes deeper is refused."""
UNFOLDED = 10_000
"""Nodes that aliases stand for, taken together; frontmatter with more is refused."""


def read_nodes(text: str) -> Node | YamlFault | None:
    """Return the one document of `text`, why it cannot be read, or none where it is empty.

    The parser is one of YAML 1.1: what that version takes for a line break or forbids is
    given to it as another character, and, where it wants that, a blank line with a tab as
    one of spaces.
    """
    known = text.translate(_TO_PRIVATE)
    found = _read(known)
    if isinstance(found, YamlFault) and "\t" in text:
        again = _read(_BLANK_WITH_TAB.sub(_spaces, known))
        return found if isinstance(again, YamlFault) else again
    return found


_OTHERWISE = (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF, *range(0xD800, 0xE000))
_TO_PRIVATE = {code: 0xF0000 + code for code in _OTHERWISE}
_FROM_PRIVATE = {stand_in: code for code, stand_in in _TO_PRIVATE.items()}
_BLANK_WITH_TAB = re.compile(r"^[ ]*+\t[ \t]*+(?=\r?$|#)", re.MULTILINE)

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CORE = "tag:yaml.org,2002:"
_TYPES: dict[str, tuple[type, ...]] = {
    "str": (),
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "null": (type(None),),
}
_KIND_TAGS = {"list": "seq", "mapping": "map"}


class _RefusedError(Exception):
    """Leaves the builder; it is a value before anyone else sees it."""

    def __init__(self, fault: YamlFault) -> None:
        super().__init__(fault)
        self.fault = fault


def _spaces(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _read(text: str) -> Node | YamlFault | None:
    builder = _Builder(text)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except _RefusedError as refused:
        return refused.fault
    except yaml.YAMLError as error:
        return _fault_of(error)
    return builder.root


def _fault_of(error: yaml.YAMLError) -> YamlFault:
    words = [getattr(error, name, None) for name in ("context", "problem")]
    message = ", ".join(word for word in words if word) or str(error)
    mark = getattr(error, "problem_mark", None)
    return YamlFault(mark.line, mark.column, message) if mark else YamlFault(0, 0, message)


class _Builder:
    """Makes one tree of the events of the parser, with a stack, so that depth is no danger."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.root: Node | None = None
        self._open: list[Node] = []
        self._keys: list[set[str]] = []
        self._anchors: dict[str, Node] = {}
        self._unfolded = 0

    def take(self, event: yaml.Event) -> None:
        """Go on with `event`."""
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._finish(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent) and self.root is not None:
            raise _refused(event, "a second document begins")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        node = _node("scalar", event)
        node.text = event.value.translate(_FROM_PRIVATE)
        node.is_plain = not event.style
        node.tag = _tag(event)
        if node.tag is not None and not _fits(node.text, node.tag):
            raise _refused(event, f"{node.text!r} is no !!{node.tag}")
        self._name(event, node)
        self._add(node)

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        kind: Kind = "list" if isinstance(event, yaml.SequenceStartEvent) else "mapping"
        node = _node(kind, event)
        node.is_flow = bool(event.flow_style)
        if event.tag not in {None, _CORE + _KIND_TAGS[kind]}:
            raise _refused(event, f"the tag {event.tag!r} is unknown")
        if len(self._open) == LEVELS:
            raise _refused(event, f"more than {LEVELS} levels")
        self._name(event, node)
        self._open.append(node)
        self._keys.append(set())

    def _finish(self, event: Any) -> None:
        node = self._open.pop()
        self._keys.pop()
        # the end of a block is said to be where the next one begins, which is too late
        node.end = event.end_mark.index if node.is_flow else node.items[-1].end
        node.size = 1 + sum(item.size for item in node.items)
        node.depth = 1 + max((item.depth for item in node.items), default=0)
        self._add(node)

    def _alias(self, event: Any) -> None:
        target = self._anchors.get(event.anchor)
        if target is None:
            raise _refused(event, f"no anchor stands before the alias *{event.anchor}")
        if target in self._open:
            raise _refused(event, f"the alias *{event.anchor} stands inside what it means")
        self._unfolded += target.size
        if self._unfolded > UNFOLDED:
            raise _refused(event, f"aliases unfold to more than {UNFOLDED:,} nodes")
        if len(self._open) + target.depth > LEVELS:
            raise _refused(event, f"more than {LEVELS} levels")
        node = _node(target.kind, event)
        node.alias_of, node.size, node.depth = target, target.size, target.depth
        self._add(node)

    def _name(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, node: Node) -> None:
        if event.anchor is not None:
            self._anchors[event.anchor] = node

    def _add(self, node: Node) -> None:
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        if parent.kind == "mapping" and len(parent.items) % 2 == 0:
            self._key(node)
        parent.items.append(node)

    def _key(self, node: Node) -> None:
        meant = node.meant
        if meant.kind != "scalar":
            meant.text = self._text[meant.start : meant.end].translate(_FROM_PRIVATE)
        keys, text = self._keys[-1], meant.text
        if text in keys:
            message = f"the key {text!r} is written twice"
            raise _RefusedError(YamlFault(node.line, node.column, message))
        keys.add(text)


def _node(kind: Kind, event: Any) -> Node:
    start = event.start_mark
    return Node(kind, start.index, event.end_mark.index, start.line, start.column)


def _fits(text: str, tag: str) -> bool:
    return tag == "str" or type(core_value(text)) in _TYPES[tag]


def _tag(event: yaml.ScalarEvent) -> str | None:
    if event.tag is None:
        return None
    name = event.tag.removeprefix(_CORE)
    if name == event.tag or name not in _TYPES:
        raise _refused(event, f"the tag {event.tag!r} is unknown")
    return name


def _refused(event: Any, message: str) -> _RefusedError:
    mark = event.start_mark
    return _RefusedError(YamlFault(mark.line, mark.column, message))
