"""A model that answers: local or far, real or scripted."""

from collections.abc import Callable, Sequence
from typing import Protocol

from counterfoil.core.messages import Delta, ModelAnswer, ModelRequest


class ChatModel(Protocol):
    """Answers requests, one at a time for each turn; many turns may ask it at once."""

    @property
    def name(self) -> str:
        """The name of the model, as the record keeps it."""
        ...

    @property
    def window(self) -> int | None:
        """The tokens that a request and its answer may have together; `None`: not known."""
        ...

    async def ask(self, request: ModelRequest, hear: Callable[[Delta], None]) -> ModelAnswer:
        """Return the whole answer; meanwhile `hear` is called with each piece of it.

        Cancelling the call ends the request.

        Raises:
            ContextOverflowError: The request does not fit into the model's window.
            UnavailableError: The model cannot be reached, or broke off.
        """
        ...


class ModelCatalogue(Protocol):
    """Knows which models an endpoint serves."""

    async def models(self) -> Sequence[str]:
        """Return the names of the models, sorted.

        Raises:
            UnavailableError: The endpoint cannot be reached.
        """
        ...
