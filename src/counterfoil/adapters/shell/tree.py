"""The simple commands in a syntax tree of shfmt.

Known nodes are told apart by their type; whatever else there is, is walked through, so
that no command hides in a construct that this module does not name.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias, cast

from counterfoil.core.gate.commands import (
    Assignment,
    ParsedCommand,
    Pipe,
    Redirection,
    SimpleCommand,
    Span,
    Word,
)

Node: TypeAlias = dict[str, object]

_ReadLiteral = Callable[[str], tuple[str, bool]]

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
_C_ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c(.)|(.))",
    re.DOTALL,
)
_C_LETTERS = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_GROUPS = {
    "CmdSubst": "substitution",
    "ProcSubst": "process",
    "Subshell": "subshell",
    "FuncDecl": "function",
    "CoprocClause": "coprocess",
}
_PREFIXES = ("time", "coproc")
"""Words that only one of the dialects takes for part of its grammar."""


class TreeReader:
    """Gathers the commands of one tree; `source` are the bytes that it was made of."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._commands: list[SimpleCommand] = []
        self._pipes: list[Pipe] = []
        self._operators: list[str] = []
        self._functions: list[str] = []
        self._within: list[str] = []

    def read(self, tree: Node, text: str) -> ParsedCommand:
        """Return what is in `tree`, which is the tree of `text`."""
        self._walk(tree)
        return ParsedCommand(
            text=text,
            commands=tuple(self._commands),
            pipes=tuple(self._pipes),
            operators=tuple(self._operators),
            functions=tuple(self._functions),
        )

    def _walk(self, node: Node) -> None:
        kind = node.get("Type")
        group = _GROUPS.get(str(kind))
        if group:
            self._within.append(group)
        if "Cmd" in node or "Redirs" in node:
            self._statement(node)
        elif kind == "BinaryCmd":
            self._joined(node)
        else:
            if kind == "FuncDecl":
                self._functions.append(_name(node))
            self._walk_all(node)
        if group:
            self._within.pop()

    def _walk_all(self, node: Node) -> None:
        for child in _children(node):
            self._walk(child)

    def _joined(self, node: Node) -> None:
        operator = str(node["Op"])
        self._operators.append(operator)
        first = len(self._commands)
        self._walk(_node(node["X"]))
        middle = len(self._commands)
        self._walk(_node(node["Y"]))
        if operator in {"|", "|&"}:
            self._pipes.append(Pipe(Span(first, middle), Span(middle, len(self._commands))))

    def _statement(self, node: Node) -> None:
        if node.get("Background"):
            self._operators.append("&")
        command = _node(node.get("Cmd") or {})
        redirections = tuple(self._redirection(_node(one)) for one in _list(node.get("Redirs")))
        is_simple = command.get("Type") in {"CallExpr", "DeclClause"}
        if not (is_simple or redirections):
            self._walk_all(node)
            return
        place = len(self._commands)
        self._commands.append(self._simple(node, command if is_simple else {}, redirections))
        if is_simple:
            self._walk_all(command)
        self._walk_all({"Redirs": node.get("Redirs")})
        self._close(place)
        if not is_simple:  # a group is no part of the command that stands for its redirections
            self._walk(command)

    def _close(self, place: int) -> None:
        inner = Span(place + 1, len(self._commands))
        self._commands[place] = replace(self._commands[place], inner=inner)

    def _simple(
        self, statement: Node, node: Node, redirections: tuple[Redirection, ...]
    ) -> SimpleCommand:
        arguments = [_node(one) for one in _list(node.get("Args"))]
        if node.get("Type") == "DeclClause":
            words = [Word(_value(node["Variant"])), *map(self._declared, arguments)]
        else:
            words = [self._word(one) for one in arguments]
        return SimpleCommand(
            words=_without_prefix(words),
            assignments=tuple(self._assigned(_node(one)) for one in _list(node.get("Assigns"))),
            redirections=redirections,
            text=self._text_of(statement),
            within=tuple(self._within),
        )

    def _text_of(self, statement: Node) -> str:
        """Return what was written, without the `;` or `&` behind it."""
        parts = [_node(one) for one in _list(statement.get("Redirs"))]
        if statement.get("Cmd"):
            parts.append(_node(statement["Cmd"]))
        last = max(_offset(part["End"]) for part in parts)
        return self._source[_offset(statement["Pos"]) : last].decode("utf-8", "replace")

    def _declared(self, node: Node) -> Word:
        """Read a word of `export` and its like, which may be an assignment or not."""
        if "Name" not in node:
            return self._word(_node(node["Value"]))
        if node.get("Naked"):
            return Word(_name(node))
        assigned = self._assigned(node)
        return Word(f"{assigned.name}={assigned.value.text}", assigned.value.expands)

    def _assigned(self, node: Node) -> Assignment:
        if "Array" in node or "Index" in node:
            return Assignment(_name(node), Word(self._text(node), expands=True))
        value = node.get("Value")
        return Assignment(_name(node), self._word(_node(value)) if value else Word(""))

    def _redirection(self, node: Node) -> Redirection:
        operator = str(node["Op"])
        target = self._word(_node(node["Word"]))
        body = node.get("Hdoc")
        if operator == "<<<":
            held: Word | None = target
        else:
            is_quoted = any(part.get("Type") != "Lit" for part in _parts(_node(node["Word"])))
            held = self._body(_node(body), is_raw=is_quoted) if body else None
        return Redirection(operator, target, _value(node.get("N") or {}), held)

    def _body(self, node: Node, *, is_raw: bool) -> Word:
        if is_raw:
            return Word("".join(_value(part) for part in _parts(node)))
        pieces = [self._piece(part, _in_quotes) for part in _parts(node)]
        return Word("".join(text for text, _ in pieces), any(expands for _, expands in pieces))

    def _word(self, node: Node) -> Word:
        pieces = [self._piece(part, _unquoted) for part in _parts(node)]
        return Word("".join(text for text, _ in pieces), any(expands for _, expands in pieces))

    def _piece(self, part: Node, literal: _ReadLiteral) -> tuple[str, bool]:
        kind = part.get("Type")
        if kind == "Lit":
            return literal(_value(part))
        if kind == "SglQuoted":
            return (_from_c(_value(part)) if part.get("Dollar") else _value(part)), False
        if kind == "DblQuoted":
            pieces = [self._piece(inner, _in_quotes) for inner in _parts(part)]
            return "".join(text for text, _ in pieces), any(expands for _, expands in pieces)
        return self._text(part), True

    def _text(self, node: Node) -> str:
        first, last = _offset(node["Pos"]), _offset(node["End"])
        return self._source[first:last].decode("utf-8", "replace")


def _unquoted(value: str) -> tuple[str, bool]:
    """Return it as the program gets it, and whether it is a pattern."""
    return _ESCAPED.sub(r"\1", value), _is_pattern(_ESCAPED.sub("", value))


def _in_quotes(value: str) -> tuple[str, bool]:
    return _ESCAPED_IN_QUOTES.sub(lambda found: found[1].strip("\n"), value), False


def _is_pattern(text: str) -> bool:
    """Say whether file names, or a list in braces, can take the place of `text`."""
    if "*" in text or "?" in text:
        return True
    if "[" in text and "]" in text[text.index("[") :]:
        return True
    return "{" in text and "}" in text and ("," in text or ".." in text)


def _from_c(text: str) -> str:
    return _C_ESCAPE.sub(_c_character, text)


def _c_character(found: re.Match[str]) -> str:
    octal, two, four, eight, control, letter = found.groups()
    if letter is not None:
        return _C_LETTERS.get(letter, letter if letter in "\\'\"?" else found[0])
    if control is not None:
        return chr(ord(control) & 0x1F)
    number = int(octal, 8) & 0xFF if octal else int(two or four or eight, 16)
    return chr(number) if number <= 0x10FFFF else found[0]  # noqa: PLR2004 - Unicode's last


def _without_prefix(words: list[Word]) -> tuple[Word, ...]:
    """Leave out what one dialect takes for grammar and the other for a program."""
    while words and words[0].text in _PREFIXES:
        is_time = words[0].text == "time"
        words = words[1:]
        if is_time and words and words[0].text == "-p":
            words = words[1:]
    return tuple(words)


def _children(node: Node) -> Iterator[Node]:
    for value in node.values():
        if isinstance(value, dict):
            yield cast("Node", value)
        elif isinstance(value, list):
            yield from (cast("Node", one) for one in cast("list[object]", value) if one)


def _node(value: object) -> Node:
    return cast("Node", value)


def _list(value: object) -> list[object]:
    return cast("list[object]", value or [])


def _parts(node: Node) -> list[Node]:
    return cast("list[Node]", node.get("Parts") or [])


def _value(node: object) -> str:
    return str(_node(node).get("Value") or "")


def _name(node: Node) -> str:
    return _value(node["Name"])


def _offset(position: object) -> int:
    return cast("int", _node(position)["Offset"])
