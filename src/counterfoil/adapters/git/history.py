"""What stood below a directory at an earlier revision, as far as it is another now."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from counterfoil.core.errors import NotFoundError, UnavailableError

_TIMEOUT = 120


class DirectoryHistory:
    """The directory at `path`, in a work tree of Git, which is only read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def changed_since(self, revision: str) -> dict[str, bytes | None]:
        """Return, by path below the directory, what stood there at `revision`.

        Only files that are not the same now are named; `None` for one that was not
        there. A file that Git was never told of was not there.

        Raises:
            NotFoundError: The directory is in no work tree, or there is no such revision.
            UnavailableError: Git is not installed, or does not answer.
        """
        commit = self._commit(revision)
        names = self._names(
            "diff", "--name-status", "--no-renames", "--relative", commit, "--", "."
        )
        before = dict.fromkeys(self._names("ls-files", "--others", "--", "."))
        statuses = dict(zip(names[1::2], names[::2], strict=True))
        changed: dict[str, bytes | None] = {**before}
        for path, status in statuses.items():
            changed[path] = None if status == "A" else self._content(commit, path)
        return changed

    def _commit(self, revision: str) -> str:
        found = self._git(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        )
        if found is None:
            raise NotFoundError(
                f"no revision {revision!r} for {self._path}",
                "a commit, branch or tag of the repository that holds the store",
                "check the name with `git log`; a store outside of Git has no history",
            )
        return found.decode().strip()

    def _names(self, *arguments: str) -> list[str]:
        command, *rest = arguments
        found = self._git(command, "-z", *rest)
        if found is None:
            raise UnavailableError(f"git could not compare {self._path}")
        return [name for name in found.decode("utf-8", "surrogateescape").split("\0") if name]

    def _content(self, commit: str, path: str) -> bytes | None:
        return self._git("cat-file", "blob", f"{commit}:./{path}")

    def _git(self, *arguments: str) -> bytes | None:
        command: Sequence[str] = ["git", "-C", str(self._path), *arguments]
        try:
            done = subprocess.run(  # noqa: S603 - fixed program, arguments never through a shell
                command,
                capture_output=True,
                check=False,
                timeout=_TIMEOUT,
                stdin=subprocess.DEVNULL,
            )
        except FileNotFoundError as error:
            raise UnavailableError("git is not installed", "git, for --since") from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UnavailableError(f"git did not answer: {error}") from error
        return done.stdout if done.returncode == 0 else None
