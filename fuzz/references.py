"""Fuzz the grammars of references: entries, literals, and the flattening of text.

python fuzz/references.py -max_total_time=60
"""
# ruff: noqa: INP001

import time

import atheris

from targets import TEXTS, check_text, hold, run  # isort: skip - it instruments what it imports

_PIECES = (
    *TEXTS, "entry ", "entries ", "Entry: ", "#", "no. ", "numbers ", "1", "12", "1,204", "99999",
    "-", "–", "—", "…", "..", " to ", ", ", "; ", " & ", " and ", " or ", "(", ")", "[", "]", "**",
    "`", '"', "“", "”", "'", "\n", "\r\n", "\n\n", "- ", "> ", "```", "~~~~", "```diff\n", "\t",
    "https://", "a://b", ".py", ":12", "#L3-L9", "src/", "\\", "commit ", "abcdef1", "the output ",
    "says ", "shows:", " %", " lines", "٣", "İ", "e\u0301", "\u00ad", "\u3000", "a" * 30,
)  # fmt: skip


def fuzz(data: bytes) -> None:
    """Read the references of a text made of pieces, in time linear in its length."""
    provider = atheris.FuzzedDataProvider(data)
    parts: list[str] = []
    while provider.remaining_bytes() and len(parts) < 200:  # noqa: PLR2004 - long enough
        if provider.ConsumeIntInRange(0, 5):
            part = _PIECES[provider.ConsumeIntInRange(0, len(_PIECES) - 1)]
            parts.append(part * (1 if provider.ConsumeIntInRange(0, 9) else 50))
        else:
            parts.append(provider.ConsumeUnicode(provider.ConsumeIntInRange(0, 20)))
    text = "".join(parts)
    began = time.process_time()
    check_text(text)
    taken = time.process_time() - began
    hold(that=taken < 0.05 + len(text) * 50e-6, what=f"{len(text)} characters took {taken:.2f} s")


if __name__ == "__main__":
    run(fuzz)
