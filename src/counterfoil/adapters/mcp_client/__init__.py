"""Tools of MCP servers, as tools that a thread can be given."""

from counterfoil.adapters.mcp_client.servers import McpToolServers

__all__ = ["McpToolServers"]
