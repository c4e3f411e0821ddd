"""The one module that knows the `openai` client: chunks of an answer, and single values.

Chunks are read as plain JSON and not as the client's types, since servers leave out, add
and misplace members. Every error leaves here as one of the family.
"""

from collections.abc import AsyncGenerator, Mapping
from typing import Any
from urllib.parse import urlsplit

from openai import (
    APIConnectionError,
    APIError,
    APITimeoutError,
    AsyncOpenAI,
    AsyncStream,
    DefaultAsyncHttpx2Client,
    Timeout,
)

from counterfoil.adapters.models.endpoint_faults import (
    Endpoint,
    broke_off,
    cause_of,
    no_protocol,
    said_fault,
    too_slow,
    unreachable,
)
from counterfoil.core.errors import UnavailableError
from counterfoil.wire.json_values import is_object, value_in

_NO_KEY = "none"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


async def chunks(
    endpoint: Endpoint, body: dict[str, object], seconds: float
) -> AsyncGenerator[Mapping[str, Any], None]:
    """Yield the chunks of the answer to `body`; each may take so many `seconds` to come.

    Raises:
        ContextOverflowError: The request does not fit into the model's window.
        UnavailableError: Nobody answers, or something else than chunks comes.
    """
    begun = False
    try:
        async with _client(endpoint, seconds) as client, await _asked(client, body) as stream:
            kind = stream.response.headers.get("content-type", "no content type")
            if "json" in kind:
                begun = True
                yield _chunk(value_in(await stream.response.aread()), endpoint, kind)
                return
            async for value in stream:
                begun = True
                yield _chunk(value, endpoint, "a chunk")
    except UnavailableError:
        raise
    except Exception as error:  # the transport's own errors have no public name
        raise fault_of(error, endpoint, begun=begun) from error
    if not begun:
        raise no_protocol(endpoint, f"nothing of an answer, only {kind}")


async def fetch(
    endpoint: Endpoint, url: str, body: dict[str, object] | None, seconds: float
) -> object:
    """Return the JSON value at `url`, or what is answered to `body` there.

    Raises:
        UnavailableError: There is none.
    """
    try:
        async with _client(endpoint, seconds) as client:
            if body is None:
                return await client.get(url, cast_to=object)
            return await client.post(url, body=body, cast_to=object)
    except Exception as error:  # the transport's own errors have no public name
        raise fault_of(error, endpoint, begun=False) from error


def fault_of(error: Exception, endpoint: Endpoint, *, begun: bool) -> UnavailableError:
    """Return what to tell a person about `error`, which came before or in an answer."""
    if isinstance(error, APITimeoutError):
        return too_slow(endpoint, begun=begun)
    if isinstance(error, ValueError | RecursionError):
        return no_protocol(endpoint, f"what is no JSON ({endpoint.shown(str(error))})")
    if isinstance(error, APIConnectionError) or not isinstance(error, APIError):
        if begun:
            return broke_off(endpoint, endpoint.shown(cause_of(error)))
        return unreachable(endpoint, error)
    return said_fault(error.body or error.message, endpoint, getattr(error, "status_code", None))


def _client(endpoint: Endpoint, seconds: float) -> AsyncOpenAI:
    """Return a client that asks once; a server on this machine is asked past any proxy."""
    is_near = urlsplit(endpoint.base_url).hostname in _LOOPBACK
    return AsyncOpenAI(
        api_key=endpoint.key or _NO_KEY,
        base_url=endpoint.base_url,
        timeout=Timeout(seconds),
        max_retries=0,
        http_client=DefaultAsyncHttpx2Client(trust_env=False) if is_near else None,
    )


async def _asked(client: AsyncOpenAI, body: dict[str, object]) -> AsyncStream[object]:
    return await client.post(
        "/chat/completions",
        body=body,
        cast_to=object,
        stream=True,
        stream_cls=AsyncStream[object],
    )


def _chunk(value: object, endpoint: Endpoint, what: str) -> Mapping[str, Any]:
    """Return a chunk; an error in the place of one is raised."""
    if not is_object(value):
        raise no_protocol(endpoint, f"{what} that is no object")
    if value.get("error") or value.get("object") == "error":
        raise said_fault(value.get("error") or value, endpoint)
    return value
