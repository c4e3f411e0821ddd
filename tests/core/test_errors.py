"""The error family: its tree, its fields, and the one line that a person reads."""

import pytest

from counterfoil.core import errors
from counterfoil.core.errors import (
    ConflictError,
    ContextOverflowError,
    CounterfoilError,
    DamagedLedgerError,
    InvalidIdError,
    LineageConflictError,
    NotFoundError,
    UnavailableError,
    UnreadableError,
    UnresolvedReferencesError,
)

PARENTS = {
    InvalidIdError: CounterfoilError,
    UnreadableError: CounterfoilError,
    DamagedLedgerError: UnreadableError,
    NotFoundError: CounterfoilError,
    ConflictError: CounterfoilError,
    LineageConflictError: ConflictError,
    UnavailableError: CounterfoilError,
    ContextOverflowError: UnavailableError,
    UnresolvedReferencesError: CounterfoilError,
}
TOLD = [error for error in PARENTS if error is not UnresolvedReferencesError]


@pytest.mark.parametrize("child", PARENTS)
def test_each_error_stands_where_the_tree_draws_it(child: type[CounterfoilError]) -> None:
    """errors: The family is the tree that the module draws."""
    assert child.__bases__ == (PARENTS[child],)
    assert child.__name__ in (errors.__doc__ or "")
    assert child.__doc__


def test_no_error_is_missing_from_the_tree() -> None:
    """errors: Every error of the module is in the tree."""
    made = {value for value in vars(errors).values() if isinstance(value, type)}
    assert {one for one in made if issubclass(one, Exception)} == {CounterfoilError, *PARENTS}
    assert not issubclass(CounterfoilError, ValueError | LookupError | OSError)


@pytest.mark.parametrize("child", [CounterfoilError, *TOLD])
@pytest.mark.parametrize(
    ("said", "line"),
    [
        (("a",), "a"),
        (("a", "b"), "a; expected b"),
        (("a", "", "c"), "a (hint: c)"),
        (("a", "b", "c"), "a; expected b (hint: c)"),
    ],
)
def test_an_error_says_what_was_found_expected_and_to_do(
    child: type[CounterfoilError], said: tuple[str, ...], line: str
) -> None:
    """errors: The diagnosis is one line of the three fields, and so is the text of the error."""
    error = child(*said)
    assert error.diagnosis() == str(error) == line
    assert (error.found, error.expected, error.advice) == (*said, "", "")[:3]


def test_unresolved_references_carry_their_rows() -> None:
    """errors: The error of asserting forms has the rows, and counts them."""
    rows = ["missing", "ambiguous"]
    error = UnresolvedReferencesError(rows)
    assert error.rows == ("missing", "ambiguous")
    assert error.diagnosis() == "2 references do not resolve"
