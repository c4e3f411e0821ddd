"""Groups of commands whose modules are imported when they are used."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group that knows its commands by name and sentence, and each only when it is asked for."""

    def __init__(self, *, commands_of: Mapping[str, str], package: str, **more: Any) -> None:  # noqa: ANN401 - click's
        """Have the commands named in `commands_of`, one to a module of `package`."""
        super().__init__(**more)
        self._sentences = commands_of
        self._package = package

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names, in their order."""
        return list(self._sentences)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command, imported now."""
        if cmd_name not in self._sentences:
            return None
        module = import_module(f"{self._package}.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._sentences.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is meant; of one that is not there, name the nearest."""
        name = args[0] if args else ""
        if name and name not in self._sentences and not name.startswith("-"):
            from difflib import get_close_matches  # noqa: PLC0415 - only for a mistake

            near = get_close_matches(name, self._sentences, n=1)
            listed = f"`{ctx.command_path} --help` lists them"
            hint = f"did you mean {near[0]!r}?" if near else listed
            raise click.UsageError(f"no command {name!r} ({hint})", ctx)
        return super().resolve_command(ctx, args)
