"""Results of tools, and refusals of calls that are not valid."""

import json

from mcp import types
from mcp.shared.exceptions import MCPError

from counterfoil.faces.mcp.fitting import fit, fit_text


def invalid(message: str) -> MCPError:
    """Return the error of a call whose parameters are not valid."""
    return MCPError(code=types.INVALID_PARAMS, message=fit_text(message))


def failed(message: str) -> types.CallToolResult:
    """Return the result of a tool that could not do what it was asked."""
    text = types.TextContent(type="text", text=fit_text(message))
    return types.CallToolResult(content=[text], is_error=True)


def answered(value: object) -> types.CallToolResult:
    """Return the result that is a JSON document, as structure and, for old clients, as text."""
    fitted = fit(value)
    text = json.dumps(fitted, ensure_ascii=False, separators=(",", ":"))
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=fitted
    )
