"""Text of a record made fit to be shown: nothing in it steers a terminal or a reader.

Control characters, terminal escapes, bidirectional controls and lone surrogates are
written out, so that what is shown is what is there (design.md section 9).
"""

import re

_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def plain(text: str) -> str:
    r"""Return `text` with everything unfit written as an escape.

    >>> plain("a\x1b[31mb\u202ec")
    'a\\x1b[31mb\\u202ec'
    """
    return _UNFIT.sub(_escaped, text)


def one_line(text: str, width: int) -> str:
    """Return the first words of `text` on one line, at most `width` characters."""
    flat = plain(" ".join(text.split(maxsplit=width))[: width + 1])
    return flat if len(flat) <= width else f"{flat[: width - 1].rstrip()}…"


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"  # noqa: PLR2004 - two digits
