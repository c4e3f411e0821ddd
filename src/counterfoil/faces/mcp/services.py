"""What the server offers and does not make: the agent, and the checks beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from counterfoil.engine.agent import Agent


@dataclass(frozen=True, slots=True, kw_only=True)
class PageStores:
    """Which pages a check is about: those that a run sees, or those of one store.

    `root` is a folder below the roots of the server, its real path; with neither, the
    store is the one that the configuration means.
    """

    run: str | None = None
    root: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServices:
    """Everything that the server needs, made once for a process.

    `check` checks a transcript, given its name and its bytes to read; `lint` checks the
    pages of a store; `resolve` says what handles mean. Each returns one JSON document as
    bytes, that of its command with `--json`. Each may block, and may raise a
    `CounterfoilError`. `roots` are the folders whose files a caller may name.
    """

    agent: Agent
    check: Callable[[str, BinaryIO], bytes]
    lint: Callable[[PageStores], bytes]
    resolve: Callable[[Sequence[str], PageStores], bytes]
    roots: tuple[str, ...]
    version: str
