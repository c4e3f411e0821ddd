"""Values made fit for JSON in UTF-8: half a character becomes the replacement character.

File names and outputs may hold lone surrogates. The record keeps them as escapes; many
clients refuse such JSON whole, and would wait for ever for an answer.
"""

import json
import re
from typing import Any

from counterfoil.wire.json_values import is_list, is_object

_HALF = re.compile("[\ud800-\udfff]")


def fit(value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    """Return `value` with no lone surrogate in it, itself where it has none."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return _fitted(json.loads(json.dumps(value)))
    return value


def fit_text(text: str) -> str:
    """Return `text` with no lone surrogate in it."""
    return _HALF.sub("\ufffd", text)


def json_text(value: object) -> str:
    """Return `value` as JSON on one line, fit for UTF-8."""
    return json.dumps(fit(value), ensure_ascii=False, separators=(",", ":"))


def _fitted(value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    if isinstance(value, str):
        return fit_text(value)
    if is_object(value):
        return {fit_text(key): _fitted(item) for key, item in value.items()}
    if is_list(value):
        return [_fitted(item) for item in value]
    return value
