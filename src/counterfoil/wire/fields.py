"""The fields of a JSON object, asked for by name and type; what is wrong names its field."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from counterfoil.core.errors import InvalidIdError
from counterfoil.wire.json_values import is_list, is_object

T = TypeVar("T")
Choice = TypeVar("Choice", bound=str)


class WrongFieldError(ValueError):
    """A field is missing, of another type, or has a value that it cannot have."""

    def __init__(self, reason: str, field: str) -> None:
        """Say why (`missing-field`, `wrong-type`, `bad-value`), and in which field."""
        super().__init__(reason, field)
        self.reason = reason
        self.field = field


class Fields:
    """The fields of one object; `at` is where it stands in what is read."""

    def __init__(self, value: Mapping[str, Any], at: str = "") -> None:
        """Ask `value`."""
        self.value = value
        self._at = at

    def text(self, name: str) -> str:
        """Return a text."""
        return self._of_type(name, str)

    def text_or_none(self, name: str) -> str | None:
        """Return a text, or `None` where it is null or not there."""
        return None if self.value.get(name) is None else self.text(name)

    def whole(self, name: str) -> int:
        """Return a whole number from 0."""
        number = self._of_type(name, int)
        if isinstance(number, bool):
            raise self._wrong("wrong-type", name)
        if number < 0:
            raise self._wrong("bad-value", name)
        return number

    def one_of(self, name: str, choices: Sequence[Choice]) -> Choice:
        """Return which of `choices` is written."""
        written = self.text(name)
        for choice in choices:
            if choice == written:
                return choice
        raise self._wrong("bad-value", name)

    def made(self, name: str, make: Callable[[str], T]) -> T:
        """Return the id that `make` makes of a text."""
        try:
            return make(self.text(name))
        except InvalidIdError:
            raise self._wrong("bad-value", name) from None

    def within(self, name: str) -> "Fields":
        """Return the fields of an object."""
        value = self._there(name)
        if not is_object(value):
            raise self._wrong("wrong-type", name)
        return Fields(value, self._place(name))

    def rows(self, name: str) -> list["Fields"]:
        """Return the objects of a list."""
        value = self._there(name)
        if not is_list(value):
            raise self._wrong("wrong-type", name)
        return [self._row(row, f"{self._place(name)}.{at}") for at, row in enumerate(value)]

    def _row(self, row: object, at: str) -> "Fields":
        if not is_object(row):
            raise WrongFieldError("wrong-type", at)
        return Fields(row, at)

    def _of_type(self, name: str, type_: type[T]) -> T:
        value = self._there(name)
        if not isinstance(value, type_):
            raise self._wrong("wrong-type", name)
        return value

    def _there(self, name: str) -> object:
        if self.value.get(name) is None:
            raise self._wrong("missing-field", name)
        return self.value[name]

    def _wrong(self, reason: str, name: str) -> WrongFieldError:
        return WrongFieldError(reason, self._place(name))

    def _place(self, name: str) -> str:
        return f"{self._at}.{name}" if self._at else name
