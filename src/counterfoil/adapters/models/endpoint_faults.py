"""What an endpoint of models says when it does not answer, as one clear line.

Servers word the same fault differently. A request that is too long is told from all others
by the codes and texts of OpenAI, llama.cpp, vLLM, SGLang, Ollama and LM Studio, since a
thread condenses itself upon it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from counterfoil.core.errors import ContextOverflowError, UnavailableError
from counterfoil.core.plain import one_line
from counterfoil.wire.json_values import is_object

START = "`ollama serve`, `llama-server -m MODEL.gguf`, `vllm serve MODEL`, `lms server start`"
"""How the servers are started that people have."""

_LONGEST_SAID = 240
_MOST_MODELS = 8
_OVERFLOW_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_OVERFLOW = re.compile(
    r"maximum (?:context|model) length"
    r"|max context length"
    r"|exceeds? (?:the )?(?:available |model's )?context (?:size|length|window)"
    r"|longer than the (?:maximum model|model's context) length"
    r"|larger than the (?:maximum )?(?:context|model) (?:size|length)"
    r"|context length of only"
    r"|greater than the context length"
    r"|context window of \d",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(r"\bmodels?\b", re.IGNORECASE)
_NO_TOOLS = re.compile(r"not support tools|tool.{0,20}not supported|--jinja", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,500}>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Which model is asked, and where; the key is never shown."""

    model: str
    base_url: str
    key: str | None = None

    @property
    def place(self) -> str:
        """The base URL, without a name and a password in it."""
        parts = urlsplit(self.base_url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    def shown(self, text: str) -> str:
        """Return what the server said on one line, without the key."""
        text = text.replace(self.key, "[key]") if self.key else text
        return one_line(_TAG.sub(" ", text), _LONGEST_SAID)


class UnknownModelError(UnavailableError):
    """The endpoint answers and has no such model."""

    def among(self, models: Sequence[str]) -> "UnknownModelError":
        """Return the same error with the models that there are."""
        served = [*models[:_MOST_MODELS], *(["…"] if len(models) > _MOST_MODELS else [])]
        expected = f"one of {', '.join(served)}" if served else ""
        return UnknownModelError(self.found, expected, self.advice)


def said_fault(body: object, endpoint: Endpoint, status: int | None = None) -> UnavailableError:
    """Return what to tell a person about the error that a server put into words."""
    said = _said(body)
    shown = endpoint.shown(said)
    if _is_overflow(body, said):
        return ContextOverflowError(
            f"the request does not fit into the window of {endpoint.model!r} "
            f"at {endpoint.place}: {shown}",
            advice="start a new thread, or serve the model with a larger window",
        )
    where = f"{endpoint.place} (HTTP {status}: {shown})" if status else f"{endpoint.place}: {shown}"
    if status == HTTPStatus.NOT_FOUND or "model_not_found" in _codes(body):
        return _not_found(endpoint, where, said)
    found, advice = _by_status(status, said)
    return UnavailableError(f"{found} {where}", advice=advice)


def broke_off(endpoint: Endpoint, why: str) -> UnavailableError:
    """Return that an answer began and did not end."""
    return UnavailableError(
        f"{endpoint.place} broke off while {endpoint.model!r} answered: {why}",
        "a whole answer",
        "look at the server's own output; it may have run out of memory; then ask again",
    )


def no_protocol(endpoint: Endpoint, sent: str) -> UnavailableError:
    """Return that something answers there which is no server of models."""
    return UnavailableError(
        f"{endpoint.place} sent {sent}",
        "chat completions as OpenAI has them",
        "check the base URL; it mostly ends in /v1: http://127.0.0.1:11434/v1 for Ollama",
    )


def _is_overflow(body: object, said: str) -> bool:
    return bool(_codes(body) & _OVERFLOW_CODES or _OVERFLOW.search(said))


def _codes(body: object) -> set[str]:
    return {str(body.get(name)) for name in ("code", "type")} if is_object(body) else set()


def _said(body: object) -> str:
    """Return the words of an error, wherever a server puts them."""
    for _ in range(3):
        if not is_object(body):
            break
        body = body.get("error") or body.get("message") or body.get("detail") or str(body)
    return str(body)


def _not_found(endpoint: Endpoint, where: str, said: str) -> UnavailableError:
    if not _NO_MODEL.search(said):
        return no_protocol(endpoint, f"no answer to a chat: {where}")
    return UnknownModelError(
        f"no model {endpoint.model!r} at {where}",
        advice=f"`ollama pull {endpoint.model}` with Ollama; else give the name of another",
    )


def _by_status(status: int | None, said: str) -> tuple[str, str]:
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return "the key was refused by", "give the API key of that server"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return "no more requests are taken by", "wait, or look at the limits of the account"
    if _NO_TOOLS.search(said):
        advice = "choose a model that can call tools; llama.cpp needs `--jinja`"
        return "tools were refused by", advice
    if status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        advice = "look at the server's own output; ask again once the model is loaded"
        return "a fault at", advice
    return "the request was refused by", "look at what the server says about it"


def too_slow(endpoint: Endpoint, *, begun: bool) -> UnavailableError:
    """Return that nothing, or nothing more, came in time."""
    what = "nothing more" if begun else "nothing"
    return UnavailableError(
        f"{what} came from {endpoint.place} in the time allowed for {endpoint.model!r}",
        advice="give it a longer timeout, or use a smaller model",
    )


def unreachable(endpoint: Endpoint, error: Exception) -> UnavailableError:
    """Return that nobody answers there."""
    return UnavailableError(
        f"no answer from {endpoint.place}: {endpoint.shown(cause_of(error))}",
        "a server of models",
        f"is it running? {START}; else give another base URL",
    )


def cause_of(error: Exception) -> str:
    """Return the words of what lies behind `error`, where there are some."""
    return str(error.__cause__ or "") or str(error) or type(error).__name__
