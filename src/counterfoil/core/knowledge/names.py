"""What a page is called where no id is written, and how names of links compare."""

from unicodedata import category, normalize


def slug(path: str) -> str:
    """Return the id that a page without one gets from `path` (knowledge.md section 1).

    `path` is below the pages directory, without `.md`. Letters, decimal digits and the
    marks that belong to them stay, in lower case; every run of anything else is one `-`.
    A path with neither is `u` and its code points, in hexadecimal.

    >>> slug("Topics/Über die Größe (2)")
    'topics-über-die-größe-2'
    >>> slug("①")
    'u2460'
    """
    kept: list[str] = []
    for letter in normalize("NFC", normalize("NFC", path).lower()):
        kept.append(letter if _belongs(letter, kept) else "-")
    made = "-".join(part for part in "".join(kept).split("-") if part)
    return made or "u" + "-".join(f"{ord(letter):x}" for letter in normalize("NFC", path))


def _belongs(letter: str, kept: list[str]) -> bool:
    kind = category(letter)
    if kind[0] == "M":
        return bool(kept) and kept[-1] != "-"
    return kind[0] == "L" or kind == "Nd"


def link_name(text: str) -> str:
    """Return the form in which names of links and titles are compared.

    NFC, letter case folded, ends trimmed, white space to `-`.

    >>> link_name(" The  Second Page ")
    'the-second-page'
    """
    words = "-".join(text.split())
    return (
        words.lower() if words.isascii() else normalize("NFC", normalize("NFC", words).casefold())
    )
