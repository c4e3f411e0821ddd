"""How the fields of a page were written, asked only where their values do not say it."""

from typing import Protocol


class Writing(Protocol):
    """The written form of frontmatter whose values are known.

    Asking costs far more than the values did; a page without a fault, a number or a date
    among its names is never asked about.
    """

    def written(self, field: str, item: int | None = None) -> str:
        """Return the text of a scalar as it is written, or the source of anything else."""
        ...

    def is_plain(self, field: str) -> bool:
        """Say whether the value of `field` is a scalar without quotes."""
        ...

    def comment(self, field: str) -> str:
        """Return the comment that stands where the value of `field` should; else nothing."""
        ...


def is_collection(value: object) -> bool:
    """Say whether `value` is a list or a mapping."""
    return isinstance(value, list | dict)


def named(value: object) -> str:
    """Return what `value` is, for a message.

    >>> [named(value) for value in ([], 7, True, " ")]
    ['a list', 'a number', 'a boolean', 'blank']
    """
    if isinstance(value, str):
        return "a text" if value.strip() else "blank"
    return next((name for kind, name in _NAMES.items() if isinstance(value, kind)), "empty")


_NAMES: dict[type, str] = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
}
