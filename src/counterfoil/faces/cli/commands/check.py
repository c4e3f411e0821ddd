"""`counterfoil check`: the main job."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

import click

from counterfoil.core.errors import CounterfoilError, NotFoundError
from counterfoil.core.report import Summary
from counterfoil.core.settings import Settings
from counterfoil.engine.check_transcript import Silence, TranscriptCheck
from counterfoil.faces.cli import CANNOT_TELL, FOUND
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.output import Output, say
from counterfoil.faces.cli.text import source_lines, summary_lines, turn_lines, view_of

_LONG = 32 << 20
"""Bytes from which on a progress bar is drawn, where standard error is a terminal."""


@click.command(name="check")
@click.argument("path", required=False)
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="The newest N sessions.")
@click.option("--repo", metavar="DIR", help="Look places and commits up in this repository, too.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON (`--format json`).")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "github", "sarif"]),
    help="How to report.",
)
@click.option("--verbose", is_flag=True, default=None, help="Show what is supported, too.")
@click.option(
    "--strict", is_flag=True, default=None, help="Exit 1 for what is not established, too."
)
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), help="When to colour text."
)
@click.pass_obj
def command(
    application: Application,
    /,
    path: str | None,
    last: int | None,
    is_json: bool,  # noqa: FBT001 - click hands options over by name
    **flags: object,
) -> int:
    """Check a session: what ran, the receipt, and which references the record lacks.

    PATH is a session file, a folder of them, or `-` for standard input; without it the
    newest session of the current directory is checked. Formats are told from content.

    Exit codes: 0 nothing to report, 1 something is contradicted, 2 misuse, 3 could not
    tell. What is merely not established is no error (see --strict).
    """
    flags["format"] = "json" if is_json else flags.pop("format_")
    settings = application.settings(
        {name: value for name, value in flags.items() if value is not None}
    )
    paths, is_many = _paths(application, settings, path, last)
    return _Run(application, settings, is_many=is_many).check(paths)


def _paths(
    application: Application, settings: Settings, path: str | None, last: int | None
) -> tuple[list[str], bool]:
    if path is None:
        found = application.sessions_here(settings, last or 1)
        if not found:
            raise NotFoundHereError
        return found, last is not None
    if path != "-" and application.is_directory(path):
        found = application.sessions_below(path, last)
        if not found:
            raise CounterfoilError(f"no session below {path!r}", "*.jsonl or *.jsonl.zst files")
        return found, True
    if last is not None:
        raise click.UsageError("--last goes with a folder, or with no path at all")
    return [path], False


class NotFoundHereError(CounterfoilError):
    """No session of the current directory is known."""

    def __init__(self) -> None:
        super().__init__(
            "no session of the current directory",
            "a session of Claude Code or Codex that ran here",
            "`counterfoil transcripts` lists those of this machine; or name a file",
        )


class _Run:
    """One invocation over one or many transcripts."""

    def __init__(self, application: Application, settings: Settings, *, is_many: bool) -> None:
        self._application = application
        self._settings = settings
        self._is_many = is_many
        self._format = settings.text("format")
        self._output = Output(settings.text("color"))
        self._results: list[dict[str, object]] = []
        repository = settings.text("repo")
        self._repository = application.repository(repository) if repository else None
        self._silences = [Silence(s.rule, s.path, s.reason) for s in settings.silences]
        self._reports: dict[str, Callable[[TranscriptCheck, str], None]] = {
            "text": self._text,
            "json": self._json,
            "github": self._github,
            "sarif": self._sarif,
        }

    def check(self, paths: list[str]) -> int:
        codes = [self._check(path) for path in paths]
        if self._format == "sarif":
            from counterfoil.wire.annotations import sarif_log  # noqa: PLC0415
            from counterfoil.wire.check import encode_json  # noqa: PLC0415

            self._output.data([encode_json(sarif_log(self._application.version, self._results))])
        return FOUND if FOUND in codes else max(codes, default=0)

    def _check(self, path: str) -> int:
        try:
            with self._application.spool() as spool, self._progress(path) as on_read:
                check = TranscriptCheck(
                    self._application.transcript(path, on_read),
                    spool,
                    repository=self._repository,
                    silences=self._silences,
                )
                check.read()
                self._reports[self._format](check, path)
                return self._code(check.summary())
        except NotFoundError:
            raise
        except CounterfoilError as error:
            return self._unread(path, error)

    def _code(self, summary: Summary) -> int:
        is_strict = self._settings.is_on("strict") and summary.not_established
        return FOUND if summary.contradicted or is_strict else 0

    def _unread(self, path: str, error: CounterfoilError) -> int:
        if self._format == "json":
            from counterfoil.wire.check import could_not_tell, encode_json  # noqa: PLC0415

            self._output.data([encode_json(could_not_tell(path, error.diagnosis()))])
        say(
            f"could not tell: {error.found}"
            + (f"; expected {error.expected}" if error.expected else "")
        )
        if error.advice:
            say(f"hint: {error.advice}")
        return CANNOT_TELL

    @contextmanager
    def _progress(self, path: str) -> Generator[Callable[[int], None] | None]:
        """Draw a bar while a long file is read, where a person watches."""
        size = self._application.size(path)
        if size < _LONG or not sys.stderr.isatty():
            yield None
            return
        from rich.console import Console  # noqa: PLC0415 - only for a bar
        from rich.progress import Progress  # noqa: PLC0415

        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("reading", total=size)
            yield lambda count: progress.update(task, advance=count)

    def _text(self, check: TranscriptCheck, path: str) -> None:
        output, source = self._output, check.source()
        view = view_of(source, output.width, is_verbose=self._settings.is_on("verbose"))
        output.lines(source_lines(source, path))
        main = None
        for turn in check.turns():
            main = main or (turn.thread if turn.parent is None and turn.source is None else None)
            output.lines(turn_lines(turn, view, is_sub=turn.thread != main))
        output.lines(summary_lines(source, check.summary(), check.caveats()))
        if self._is_many:
            output.line()

    def _json(self, check: TranscriptCheck, _: str) -> None:
        from counterfoil.wire.check import document  # noqa: PLC0415 - only for JSON

        self._output.data(document(check.source(), check.summary(), check.caveats(), check.turns()))

    def _github(self, check: TranscriptCheck, path: str) -> None:
        from counterfoil.wire.annotations import github_lines  # noqa: PLC0415 - only for this form

        for line in github_lines(path, check.turns()):
            self._output.line((line, ""))

    def _sarif(self, check: TranscriptCheck, path: str) -> None:
        from counterfoil.wire.annotations import sarif_results  # noqa: PLC0415 - only for this form

        self._results.extend(sarif_results(path, check.turns()))
