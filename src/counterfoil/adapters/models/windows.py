"""How many tokens a model may read and write together, asked of the server that has it.

vLLM, SGLang and others say it in the list of models, llama.cpp there or under `/props`,
LM Studio under `/api/v0/models`, Ollama under `/api/ps` once the model is loaded. Before
that Ollama knows what its file asks for or else what the model was trained for; it may
give it less, so the question is asked again.
"""

import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from counterfoil.wire.json_values import is_list, is_object

Fetch: TypeAlias = Callable[[str, dict[str, object] | None], Awaitable[object]]
"""Gets a URL, or posts a body to it; `None` where there is nothing to be had."""

_IN_LIST = ("max_model_len", "context_length", "max_context_length")
_NUM_CTX = re.compile(r"^num_ctx\s+(\d{1,9})\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Window:
    """The tokens of a window; not `is_final`: the model may be given fewer."""

    tokens: int
    is_final: bool = True


async def find_window(fetch: Fetch, base_url: str, model: str) -> Window | None:
    """Return the window of `model` where the server at `base_url` says it."""
    base = base_url.rstrip("/")
    listed = _listed(await fetch(f"{base}/models", None), model)
    if listed:
        return Window(listed)
    root = base.removesuffix("/v1").rstrip("/")
    for ask in (_of_props, _of_loaded, _of_shown, _of_studio):
        window = await ask(fetch, root, model)
        if window:
            return window
    return None


def _listed(answer: object, model: str) -> int | None:
    rows = list(_rows(answer, "data"))
    named = [row for row in rows if row.get("id") == model]
    for row in named or rows[:1] * (len(rows) == 1):
        meta = row.get("meta")
        found = [row.get(name) for name in _IN_LIST]
        found.append(meta.get("n_ctx") if is_object(meta) else None)
        return next(filter(None, map(_tokens, found)), None)
    return None


async def _of_props(fetch: Fetch, root: str, _: str) -> Window | None:
    settings = _member(await fetch(f"{root}/props", None), "default_generation_settings")
    return _window(_member(settings, "n_ctx"))


async def _of_loaded(fetch: Fetch, root: str, model: str) -> Window | None:
    for row in _rows(await fetch(f"{root}/api/ps", None), "models"):
        if row.get("name") in {model, f"{model}:latest"}:
            return _window(row.get("context_length"))
    return None


async def _of_shown(fetch: Fetch, root: str, model: str) -> Window | None:
    answer = await fetch(f"{root}/api/show", {"model": model})
    parameters = _member(answer, "parameters")
    asked = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    if asked:
        return _window(int(asked[1]))
    trained = _member(answer, "model_info")
    for name, value in trained.items() if is_object(trained) else ():
        tokens = _tokens(value) if name.endswith(".context_length") else None
        if tokens:
            return Window(tokens, is_final=False)
    return None


async def _of_studio(fetch: Fetch, root: str, model: str) -> Window | None:
    answer = await fetch(f"{root}/api/v0/models/{model}", None)
    return _window(_member(answer, "loaded_context_length"))


def _window(value: object) -> Window | None:
    tokens = _tokens(value)
    return Window(tokens) if tokens else None


def _tokens(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    return None


def _member(value: object, name: str) -> object:
    return value.get(name) if is_object(value) else None


def _rows(value: object, name: str) -> Iterator[dict[str, Any]]:
    rows = _member(value, name)
    return (row for row in rows if is_object(row)) if is_list(rows) else iter(())
