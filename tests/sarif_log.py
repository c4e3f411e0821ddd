"""What SARIF 2.1.0 asks of the parts that are written here, and no key beside them."""

from typing import Any

Schema = dict[str, Any]


def _object(required: list[str], /, **properties: Schema) -> Schema:
    return {
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": False,
    }


_STRING: Schema = {"type": "string"}
_LEVEL: Schema = {"enum": ["none", "note", "warning", "error"]}
_FROM_ONE: Schema = {"type": "integer", "minimum": 1}
_TEXT = _object(["text"], text=_STRING)
_PLACE = _object(
    ["artifactLocation"],
    artifactLocation=_object(["uri"], uri={"type": "string", "pattern": "^[!-~]+$"}),
    region=_object(["startLine"], startLine=_FROM_ONE, startColumn=_FROM_ONE),
)
_RESULT = _object(
    ["ruleId", "level", "message", "locations"],
    ruleId=_STRING,
    level=_LEVEL,
    message=_TEXT,
    locations={"type": "array", "items": _object(["physicalLocation"], physicalLocation=_PLACE)},
    suppressions={
        "type": "array",
        "items": _object(["kind"], kind={"enum": ["inSource", "external"]}, justification=_STRING),
    },
)
_RULE = _object(
    ["id"],
    id=_STRING,
    shortDescription=_TEXT,
    fullDescription=_TEXT,
    help=_TEXT,
    defaultConfiguration=_object(["level"], level=_LEVEL),
)
_DRIVER = _object(
    ["name"],
    name={"const": "counterfoil"},
    version=_STRING,
    rules={"type": "array", "uniqueItems": True, "items": _RULE},
)
_RUN = _object(
    ["tool", "results"],
    tool=_object(["driver"], driver=_DRIVER),
    results={"type": "array", "items": _RESULT},
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
)
SARIF: Schema = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": _RUN},
    },
    "additionalProperties": False,
}
