"""The tools that come with the program: files below the roots, the machine, the record."""

from collections.abc import Sequence
from pathlib import Path

from counterfoil.adapters.tools.edit_file import EditFileTool
from counterfoil.adapters.tools.inspect_record import InspectSources, InspectTool
from counterfoil.adapters.tools.list_files import ListFilesTool
from counterfoil.adapters.tools.read_file import ReadFileTool
from counterfoil.adapters.tools.roots import Roots
from counterfoil.adapters.tools.search_files import SearchFilesTool
from counterfoil.adapters.tools.system_info import SystemInfoTool
from counterfoil.ports.tools import Tool

__all__ = ["InspectSources", "built_in_tools"]


def built_in_tools(
    roots: Sequence[Path],
    writable: Sequence[Path],
    sources: InspectSources,
    *,
    protected: Sequence[Path] = (),
) -> tuple[Tool, ...]:
    """Return the tools, which read below `roots` and write below `writable`.

    A relative path begins at the first of `roots`, for reading and writing alike. Below
    `protected` nothing is written, wherever that is: the record is kept there.
    """
    base = next(iter((*roots, *writable)), Path.cwd())
    read = Roots(roots, base=base)
    written = Roots(writable, base=base, purpose="written", protected=protected)
    return (
        ReadFileTool(read),
        ListFilesTool(read),
        SearchFilesTool(read),
        EditFileTool(written),
        SystemInfoTool(read),
        InspectTool(sources),
    )
