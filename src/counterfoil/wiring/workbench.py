"""The part of the composition root that makes what threads work with: tools, gate, models."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil.adapters.grants import GrantFile
from counterfoil.adapters.shell import ShfmtParser
from counterfoil.adapters.sqlite import SqliteRecord
from counterfoil.adapters.system.clock import SystemClock
from counterfoil.adapters.tools.masking import without_secrets
from counterfoil.core.errors import NotFoundError
from counterfoil.core.events import ThreadOpened
from counterfoil.core.gate.grants import Grant, ThreadGrants
from counterfoil.core.gate.policy import Policy, load_policy
from counterfoil.core.gate.scale import Level
from counterfoil.core.ids import ThreadId
from counterfoil.core.messages import AskedCall
from counterfoil.core.plain import plain
from counterfoil.core.settings import ConfigurationError, Settings
from counterfoil.core.version import VERSION
from counterfoil.engine.agent import GrantRow
from counterfoil.engine.call_tool import Arguments, OfferedTool
from counterfoil.engine.effects import RunTool, Turn
from counterfoil.engine.gate import GateDesk
from counterfoil.engine.knowledge_record import RecordTool
from counterfoil.engine.knowledge_tools import ReadTool, ResolveTool, SearchTool, knowledge_tools
from counterfoil.engine.recall import MemoryTool
from counterfoil.engine.run_command import (
    SPEC,
    CommandDesk,
    gate_call,
    person_command,
    run_command,
)
from counterfoil.engine.thread_pages import ThreadPages
from counterfoil.engine.thread_parts import Kit
from counterfoil.ports.model import ChatModel
from counterfoil.ports.tools import Tool, ToolAnswer, ToolRunner
from counterfoil.wiring.agent import folders, readable_roots
from counterfoil.wiring.thread_pages import ThreadKnowledge

if TYPE_CHECKING:  # the SDK is imported where servers are configured, and there alone
    from counterfoil.adapters.mcp_client import McpToolServers

SCRIPTED = "scripted:"
"""What the name of a model begins with that is a script."""

OLLAMA = "http://127.0.0.1:11434/v1"
"""Where a model is looked for when nobody says."""

KNOWLEDGE_TOOLS = (SearchTool, ReadTool, RecordTool, ResolveTool)
"""The tools for pages; each thread has its own, over its own run."""


@dataclass(slots=True)
class _Belongings:
    """What one open thread has for itself, whichever model answers."""

    granted: ThreadGrants = field(default_factory=ThreadGrants)
    pages: ThreadPages | None = None
    model: str | None = None


class Workbench:
    """The `Workshop` of this machine: makes the kit of each thread."""

    def __init__(self, settings: Settings, place: Path, record: SqliteRecord, store: Path) -> None:
        self._settings = settings
        self._home = place
        self._store = store
        self._record = record
        self._directory = Path.cwd()
        self._clock = SystemClock()
        self._belongings: dict[ThreadId, _Belongings] = {}
        self._models: dict[str, ChatModel] = {}
        self._require_out_of_reach(store)

    def _require_out_of_reach(self, store: Path) -> None:
        """Refuse a store that a command of the agent could write to."""
        real = store.resolve()
        if real.is_relative_to(self._home.resolve()):
            return
        for root in self.writable:
            if real.is_relative_to(root.resolve()):
                raise ConfigurationError(
                    f"the store {store} lies below {root}, where tools and commands write",
                    "a store out of their reach",
                    "keep it in the home, or say `writable`",
                )

    def kit(self, thread: ThreadId, opened: ThreadOpened, *, model: str | None) -> Kit:
        """Return the kit of `thread`."""
        answering = self.model(self._meant(model, opened.face))
        mine = self._belongings.get(thread) or _Belongings()
        parent = ThreadId(opened.parent) if opened.parent else None
        pages = mine.pages or self._knowledge.open(thread, parent)
        mine.pages = pages
        mine.model = answering.name
        tools = self._tools(pages)
        offered = _chosen(self._offered(thread, tools, mine), opened.tools)
        self._belongings[thread] = mine
        return Kit(
            model=answering,
            offered=offered,
            tools=tools,
            runner=self.runner,
            pages=pages.unknown_in,
            typed=lambda command, turn: person_command(self._desk(thread, turn, mine), command),
            close=lambda: self._gave_back(thread),
        )

    def _gave_back(self, thread: ThreadId) -> None:
        mine = self._belongings.pop(thread, None)
        if mine is not None and mine.pages is not None:
            mine.pages.close()

    # --- models -------------------------------------------------------------------

    def _meant(self, name: str | None, face: str | None) -> str:
        """Return the model that `name` means: of a script the record keeps no path."""
        said = self._settings.text("model")
        is_script = said.startswith(SCRIPTED)
        if is_script and name == SCRIPTED + Path(said.removeprefix(SCRIPTED)).name:
            return said
        if name and name != said and name.startswith(SCRIPTED) and face == "mcp":
            raise NotFoundError(f"no model {name!r}", "a model that the endpoint serves")
        return name or said

    def model(self, name: str) -> ChatModel:
        """Return the model of that name, made once."""
        if not name:
            raise ConfigurationError(
                "no model is named",
                "a model",
                "say --model NAME, and --base-url URL where its server is not Ollama's own;"
                " or `model` in config.toml",
            )
        if name not in self._models:
            self._models[name] = self._made_model(name)
        return self._models[name]

    def _made_model(self, name: str) -> ChatModel:
        window = self._settings.number("window") or None
        if name.startswith(SCRIPTED):
            from counterfoil.adapters.models.scripted import ScriptedModel

            return ScriptedModel.from_file(Path(name.removeprefix(SCRIPTED)), window=window)
        from counterfoil.adapters.models.openai_compatible import OpenAIChatModel

        model = OpenAIChatModel(
            name,
            base_url=self._settings.text("base_url") or OLLAMA,
            api_key=self._api_key(),
            timeout=self._settings.number("model_timeout") or 120,
            window=window,
        )
        if window is None:
            asyncio.run(model.look_up_window())
        return model

    def _api_key(self) -> str | None:
        variable = self._settings.text("api_key_variable")
        if not variable:
            return None
        key = os.environ.get(variable)
        if not key:
            raise ConfigurationError(
                f"variable {variable} is not set", "the key of the model's server"
            )
        return key

    async def models(self) -> Sequence[str]:
        """Return what the endpoint serves."""
        name = self._settings.text("model")
        if name.startswith(SCRIPTED):
            return (name,)
        from counterfoil.adapters.models.openai_compatible import OpenAIChatModel

        base_url = self._settings.text("base_url") or OLLAMA
        endpoint = OpenAIChatModel(
            name or "any", base_url=base_url, api_key=self._api_key(), timeout=10
        )
        return await endpoint.models()

    # --- tools --------------------------------------------------------------------

    @cached_property
    def runner(self) -> ToolRunner:
        """What runs commands, confined where it can be."""
        from counterfoil.adapters.commands import ConfinedRunner

        return ConfinedRunner(self.writable, self._home, network=self._settings.is_on("network"))

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """The folders that tools may read."""
        return readable_roots(self._settings)

    @cached_property
    def writable(self) -> tuple[Path, ...]:
        """The folders that tools may write."""
        return folders(self._settings.texts("writable"), *self.roots)

    @cached_property
    def _knowledge(self) -> ThreadKnowledge:
        runs = self._settings.text("runs")
        shared = self._settings.text("shared")
        return ThreadKnowledge(
            Path(runs) if runs else self._home / "runs", Path(shared) if shared else None
        )

    @cached_property
    def _policy(self) -> Policy:
        return load_policy(self._settings.texts("deny"), self._settings.texts("allow"))

    @cached_property
    def _standing(self) -> GrantFile:
        return GrantFile(self._home / "grants.json")

    @cached_property
    def _parser(self) -> ShfmtParser:
        return ShfmtParser()

    @cached_property
    def _built_in(self) -> tuple[Tool, ...]:
        from counterfoil.adapters.tools import InspectSources, built_in_tools

        sources = InspectSources(
            config=self.config,
            status=self._status,
            approvals=self.grants,
            events=self._record.log.events_of,
        )
        return built_in_tools(self.roots, self.writable, sources, protected=(self._home,))

    def _tools(self, pages: ThreadPages) -> Mapping[str, Tool]:
        memory = MemoryTool(self._record.log, self._record.entries)
        found = (memory, *self._built_in, *knowledge_tools(pages), *self._server_tools)
        return {tool.spec.name: tool for tool in found}

    def _offered(
        self, thread: ThreadId, tools: Mapping[str, Tool], mine: _Belongings
    ) -> Mapping[str, OfferedTool]:
        offered = {
            name: OfferedTool(spec=tool.spec, answer=_plain(name)) for name, tool in tools.items()
        }

        def command(call: AskedCall, arguments: Arguments, turn: int) -> Turn[ToolAnswer]:
            return run_command(self._desk(thread, turn, mine), call.id, arguments)

        offered["run_command"] = OfferedTool(spec=SPEC, answer=command)
        for tool in self._server_tools:
            name = tool.spec.name
            offered[name] = OfferedTool(spec=tool.spec, answer=self._gated(thread, name, mine))
        return offered

    def _gated(
        self, thread: ThreadId, name: str, mine: _Belongings
    ) -> Callable[[AskedCall, Arguments, int], Turn[ToolAnswer]]:
        level = self._level_of(name)

        def answer(call: AskedCall, arguments: Arguments, turn: int) -> Turn[ToolAnswer]:
            desk = self._desk(thread, turn, mine)
            # What is judged and shown is what will be sent: no escape hides a word of it.
            text = f"{name} {json.dumps(arguments, ensure_ascii=False)}"
            refusal = yield from gate_call(desk, call.id, text, level, f"{name} *")
            if refusal is not None:
                return refusal
            return (yield from _plain(name)(call, arguments, turn))

        return answer

    def _level_of(self, name: str) -> Level:
        """Return the level that the configuration gives the server of a tool."""
        server = self._servers.server_of(name) if self._servers is not None else ""
        said = self._settings.tables("mcp_servers").get(server, {}).get("level", "moderate")
        level = _LEVELS.get(str(said))
        if level is None:
            raise ConfigurationError(
                f"level = {said!r} of mcp_servers.{server}", "safe, moderate or dangerous"
            )
        return level

    def _desk(self, thread: ThreadId, turn: int, mine: _Belongings) -> CommandDesk:
        gate = GateDesk(
            thread=thread,
            turn=turn,
            clock=self._clock,
            policy=self._policy,
            granted=mine.granted,
            standing=self._standing,
            threshold="dangerous"
            if self._settings.text("threshold") == "dangerous"
            else "moderate",
            sandbox=self.runner.sandbox,
        )
        return CommandDesk(
            gate=gate,
            parser=self._parser,
            directory=str(self._directory),
            find_directory=self._find_directory,
        )

    def _find_directory(self, name: str) -> str | None:
        try:
            path = os.path.realpath(self._directory / name)
        except ValueError:
            return None
        return path if Path(path).is_dir() else None

    # --- tools of other servers ---------------------------------------------------

    @cached_property
    def _servers(self) -> "McpToolServers | None":
        servers = self._settings.tables("mcp_servers")
        if not servers:
            return None
        from counterfoil.adapters.mcp_client import McpToolServers

        return McpToolServers(servers)

    @cached_property
    def _server_tools(self) -> tuple[Tool, ...]:
        if self._servers is None:
            return ()
        tools = tuple(self._servers.tools())
        for server, why in self._servers.faults.items():
            sys.stderr.write(f"warning: no tools of mcp_servers.{server}: {plain(why)}\n")
        return tools

    def close(self) -> None:
        """End what was started: servers, and the pages of threads that are still open."""
        for thread in list(self._belongings):
            self._gave_back(thread)
        if "_servers" in self.__dict__ and self._servers is not None:
            self._servers.close()

    # --- what is shown ------------------------------------------------------------

    def config(self) -> Mapping[str, object]:
        """Return every setting with its value and where it came from, secrets left out."""
        return {
            name: {"value": without_secrets(setting.value), "origin": setting.origin}
            for name, setting in self._settings.values.items()
        }

    def grants(self, thread: ThreadId | None) -> Sequence[GrantRow]:
        """Return what stands, and what holds in an open thread."""
        mine = self._belongings.get(thread) if thread is not None else None
        found = (*self._standing.grants(), *(mine.granted.grants() if mine else ()))
        return [_grant_row(grant) for grant in found]

    def revoke(self, id_: str) -> bool:
        """Take a grant back; say whether it was there."""
        threads = [mine.granted.revoke(id_) for mine in self._belongings.values()]
        return self._standing.revoke(id_) or any(threads)

    def tools(self) -> Sequence[tuple[str, str]]:
        """Return the names and descriptions of the tools on offer."""
        memory = MemoryTool(self._record.log, self._record.entries)
        specs = [tool.spec for tool in (memory, *self._built_in, *self._server_tools)]
        specs += [SPEC, *(tool.spec for tool in KNOWLEDGE_TOOLS)]
        return [(spec.name, spec.description) for spec in specs]

    def _status(self, thread: ThreadId) -> Mapping[str, object]:
        mine = self._belongings.get(thread)
        return {
            "thread": str(thread),
            "turn": self._record.log.last_turn(thread),
            "entries": sum(high for _, high in self._record.entries.numbers(thread)),
            "model": mine.model if mine is not None else None,
            "sandbox": self.runner.sandbox,
            "store": str(self._store),
            "version": VERSION,
        }


def _plain(name: str) -> Callable[[AskedCall, Arguments, int], Turn[ToolAnswer]]:
    """Return how a tool answers that is run and nothing else."""

    def answer(call: AskedCall, arguments: Arguments, turn: int) -> Turn[ToolAnswer]:
        del turn
        sent = yield RunTool(tool=name, arguments=arguments, call=call.id)
        if not isinstance(sent, ToolAnswer):
            raise TypeError(f"a tool answers with a ToolAnswer, not {type(sent).__name__}")
        return sent

    return answer


def _chosen(
    offered: Mapping[str, OfferedTool], names: Sequence[str] | None
) -> Mapping[str, OfferedTool]:
    """Return the tools that a thread names, or all of them."""
    if names is None:
        return offered
    for name in names:
        if name not in offered:
            near = get_close_matches(name, list(offered), n=1, cutoff=0)
            raise NotFoundError(
                f"no tool {name!r}",
                f"of {', '.join(offered)}",
                f"did you mean {near[0]!r}?" if near else "",
            )
    return {name: offered[name] for name in names}


def _grant_row(grant: Grant) -> GrantRow:
    return GrantRow(
        id=grant.id,
        pattern=str(grant.pattern),
        level=grant.level,
        scope=grant.scope,
        directory=grant.directory,
        expires_at=grant.expires_at,
    )


_LEVELS: Mapping[str, Level] = {
    "safe": "safe",
    "moderate": "moderate",
    "dangerous": "dangerous",
}
