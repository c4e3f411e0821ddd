"""The name by which a model calls a tool of a server: `server__tool`.

Models' interfaces take 1 to 64 of ASCII letters, digits, `_` and `-`. A name follows from
the two it is made of and nothing else, so that it means the same tool in every process:
what does not fit, or could be read in two ways, is told apart by a digest.

>>> offered_name("files", "read")
'files__read'
>>> offered_name("my.files", "read")
'my_files__read_31f5230e'
"""

import re

from counterfoil.core.digests import digest_hex, tagged_digest

LONGEST = 64
SEPARATOR = "__"
_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")
_DIGEST = 8


def offered_name(server: str, tool: str) -> str:
    """Return the name of a tool of a server."""
    written = f"{server}{SEPARATOR}{tool}"
    name = _UNFIT.sub("_", written)
    is_plain = SEPARATOR not in f"{server}_" and server and tool
    if is_plain and name == written and len(name) <= LONGEST:
        return name
    told_apart = f"{server}\0{tool}".encode("utf-8", "surrogatepass")
    digest = digest_hex(tagged_digest(told_apart))[:_DIGEST]
    return f"{name[: LONGEST - _DIGEST - 1]}_{digest}"
