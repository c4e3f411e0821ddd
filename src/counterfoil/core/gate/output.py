"""The end of a stream, in whole lines: what a model reads of an output, and what is kept."""

SHOWN = 4096
"""Bytes of each stream that a model reads: the last ones."""

KEPT = 1 << 20
"""Bytes of each stream that are recorded: the last ones."""


def end_of(text: str, size: int) -> tuple[str, bool]:
    r"""Return the last lines of `text` within `size` bytes of UTF-8, and whether it was cut.

    Of a last line that is longer by itself its end is returned, in whole characters.

    >>> end_of("one\ntwo\n", 6)
    ('two\n', True)
    """
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= size:
        return text, False
    end = encoded[-size:]
    if encoded[-size - 1 : -size] != b"\n":
        _, _, lines = end.partition(b"\n")
        end = lines or end
    while end and end[0] & 0xC0 == 0x80:  # noqa: PLR2004 - a byte within a character
        end = end[1:]
    return end.decode("utf-8", "surrogatepass"), True
