"""The tools of the server as they are declared: exact schemas of arguments and results."""

from typing import Any

from mcp import types

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer"}
_TRUTH: Schema = {"type": "boolean"}


def _maybe(kind: str, description: str = "") -> Schema:
    schema: Schema = {"type": [kind, "null"]}
    return {**schema, "description": description} if description else schema


def _text(description: str) -> Schema:
    return {**_TEXT, "description": description}


def _texts(description: str) -> Schema:
    return {"type": "array", "items": _TEXT, "description": description}


def _object(properties: Schema, required: tuple[str, ...] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": [*(properties if required is None else required)],
        "additionalProperties": False,
    }


def _rows(properties: Schema, required: tuple[str, ...], description: str = "") -> Schema:
    items: Schema = {"type": "object", "properties": properties, "required": [*required]}
    schema: Schema = {"type": "array", "items": items}
    return {**schema, "description": description} if description else schema


_THREAD = _text(
    "A thread: 1 to 64 ASCII letters, digits, '.', '_' or '-'. One that is recorded goes on."
)

RESPOND_ARGUMENTS = _object(
    {
        "prompt": _text("What is asked."),
        "thread_id": _text(
            "The thread that is asked: 1 to 64 ASCII letters, digits, '.', '_' or '-'. One that"
            " is recorded goes on; another starts; without one a new thread starts."
        ),
        "instructions": _text("The instructions of a thread that starts."),
        "tools": _texts("The tools of a thread that starts, exactly these; none by []."),
        "model": _text("The model of a thread that starts."),
        "parent_thread_id": _text("The thread whose pages a thread that starts inherits."),
        "schema": {
            "type": "object",
            "description": "A JSON Schema that this one reply has to fit.",
        },
    },
    ("prompt",),
)

_RECEIPT: Schema = {
    "type": "object",
    "description": "What the turn did, folded out of its events; version 1.",
    "properties": {
        "schema": _WHOLE,
        "thread": _TEXT,
        "turn": _WHOLE,
        "complete": _TRUTH,
        "seconds": {"type": ["number", "null"]},
        "condensed": _TRUTH,
        "tools": _rows({"name": _TEXT, "arguments": _TEXT, "outcome": _TEXT}, ("name", "outcome")),
        "commands": _rows(
            {"command": _TEXT, "exitStatus": _maybe("integer")}, ("command", "exitStatus")
        ),
        "files": _rows({"path": _TEXT, "mode": _TEXT}, ("path", "mode")),
        "pages": _rows({"handle": _TEXT, "action": _TEXT}, ("handle", "action")),
        "denials": _rows({"command": _TEXT, "verdict": _TEXT}, ("command", "verdict")),
        "approvals": _rows({"command": _TEXT, "decision": _TEXT}, ("command", "decision")),
        "errors": _rows({"message": _TEXT}, ("message",)),
        "caveats": _rows({"code": _TEXT, "count": _WHOLE}, ("code", "count")),
        "omitted": {"type": "object", "additionalProperties": _WHOLE},
        "usage": {"type": "object", "additionalProperties": _WHOLE},
    },
    "required": [
        *("schema", "thread", "turn", "complete", "seconds", "condensed", "tools", "commands"),
        *("files", "pages", "denials", "approvals", "errors", "caveats", "omitted"),
    ],
}

_CALLS = _rows(
    {
        "tool": _TEXT,
        "arguments": _TEXT,
        "event": _TEXT,
        "command": _TEXT,
        "exitStatus": _WHOLE,
        "error": _TEXT,
        "bytes": _WHOLE,
        "output": _TEXT,
        "outputURI": _TEXT,
    },
    ("tool", "arguments"),
    "The calls with their outputs: up to 1,024 bytes here, else where the whole is to be read.",
)

_COUNT: Schema = {"type": ["integer", "string"], "description": "Text past 2^53."}

_CHECKED: Schema = {
    "type": ["object", "null"],
    "description": "How many of the entries that the reply cites were checked, are missing, and"
    " were not checked.",
    "properties": {"checked": _WHOLE, "missing": _WHOLE, "unchecked": _COUNT},
    "required": ["checked", "missing", "unchecked"],
    "additionalProperties": False,
}

RESPOND_RESULT = _object(
    {
        "thread_id": _TEXT,
        "created": {**_TRUTH, "description": "Whether the thread started with this turn."},
        "text": _text("The reply; empty where there is none."),
        "condensed": _TRUTH,
        "refusals": _rows({"command": _TEXT, "reason": _maybe("string")}, ("command", "reason")),
        "receipt": _RECEIPT,
        "calls": _CALLS,
        "ran": _maybe("string", "One line: what ran."),
        "unknownEntries": {
            "type": "array",
            "items": _COUNT,
            "description": "The entries that the reply cites and that do not exist.",
        },
        "cited": _maybe("string", "One line about them."),
        "citedEntries": _CHECKED,
        "unknownPages": _texts("The page handles that the reply cites and that do not resolve."),
        "citedPages": _maybe("string", "One line about them."),
        "output": {"description": "With a schema, the reply as JSON; else null."},
        "caveats": _rows(
            {"code": _TEXT, "count": _WHOLE},
            ("code", "count"),
            "In which ways the record of the turn is not whole.",
        ),
    }
)

_STORE: Schema = {
    "run": _text("The run whose view is meant."),
    "root": _text("A store, by its folder below the roots of the server."),
}

CHECK_ARGUMENTS = _object(
    {
        "path": _text("A transcript below the roots of the server; relative to the first of them."),
        "text": _text("A transcript itself, instead of a path."),
    },
    (),
)

VERIFY_ARGUMENTS = _object(
    {"receipt": {"type": "object", "description": "A receipt as `respond` returned it."}}
)

VERIFY_RESULT = _object(
    {
        "verdict": {"enum": ["matches", "differs", "unknown_thread", "unknown_turn"]},
        "thread": _TEXT,
        "turn": _WHOLE,
        "difference": {
            "type": ["object", "null"],
            "properties": {"key": _TEXT, "given": {}, "recorded": {}},
            "required": ["key"],
        },
        "compared": _text("What was compared with what."),
    }
)

LINT_ARGUMENTS = _object(_STORE, ())

RESOLVE_ARGUMENTS = _object({"handles": _texts("The handles, as written."), **_STORE}, ("handles",))

CLOSE_ARGUMENTS = _object({"thread_id": _THREAD})

CLOSE_RESULT = _object({"thread_id": _TEXT, "closed": _TRUTH})

_ANY_DOCUMENT: Schema = {"type": "object"}


def _tool(
    name: str, description: str, schemas: tuple[Schema, Schema], *, only_reads: bool
) -> types.Tool:
    arguments, result = schemas
    return types.Tool(
        name=name,
        description=description,
        input_schema=arguments,
        output_schema=result,
        annotations=types.ToolAnnotations(
            read_only_hint=only_reads, open_world_hint=not only_reads
        ),
    )


TOOLS = (
    _tool(
        "respond",
        "Ask a local agent, in a thread of its own, and get its reply with the receipt of what"
        " it did: what ran, how it exited, what was refused, and which references of the reply"
        " do not exist. A refusal inside the turn is no error. Approvals are asked of your"
        " person, if your client can; no argument here approves anything.",
        (RESPOND_ARGUMENTS, RESPOND_RESULT),
        only_reads=False,
    ),
    _tool(
        "check",
        "Check the transcript of an agent, by path or as text: what ran, the receipts, and"
        " which references of its replies the record lacks. The JSON of `counterfoil check"
        " --json`.",
        (CHECK_ARGUMENTS, _ANY_DOCUMENT),
        only_reads=True,
    ),
    _tool(
        "verify",
        "Fold the receipt of a turn out of the ledger again and compare it, byte for byte, with"
        " the one given: matches, or differs and in which key first. Signed bundles of receipts"
        " are not verified yet (issue 5).",
        (VERIFY_ARGUMENTS, VERIFY_RESULT),
        only_reads=True,
    ),
    _tool(
        "kb_lint",
        "Check every page of a store, or those of a run in what it sees: citations, links,"
        " sources, ids. The JSON of `counterfoil kb lint --json`.",
        (LINT_ARGUMENTS, _ANY_DOCUMENT),
        only_reads=True,
    ),
    _tool(
        "kb_resolve",
        "Say what handles of pages mean: one page, none, or several; never a guess. The JSON of"
        " `counterfoil kb resolve --json`.",
        (RESOLVE_ARGUMENTS, _ANY_DOCUMENT),
        only_reads=True,
    ),
    _tool(
        "close_thread",
        "Close a thread here, behind the turns that were asked for; `respond` opens it again.",
        (CLOSE_ARGUMENTS, CLOSE_RESULT),
        only_reads=False,
    ),
)
"""Every tool, in the order in which they are listed."""

ARGUMENTS = {tool.name: tool.input_schema for tool in TOOLS}
