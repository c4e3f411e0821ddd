"""A Git repository, asked with Git's own commands and only read."""

import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from counterfoil.core.errors import NotFoundError, UnavailableError
from counterfoil.core.shown import may_mean, normal_path
from counterfoil.ports.world import TreeFile

_TIMEOUT = 30


class GitRepository:
    """The repository that holds `directory`."""

    def __init__(self, directory: Path) -> None:
        """Find the repository.

        Raises:
            NotFoundError: `directory` is in no Git repository.
            UnavailableError: Git is not installed.
        """
        self._directory = directory
        found = self._git("rev-parse", "--show-toplevel")
        if found is None:
            raise NotFoundError(
                f"{directory} is in no Git repository", "a folder of one", "see --repo"
            )
        self._top = Path(found.strip())
        self._at = lru_cache(maxsize=4096)(self._commit_at)
        self._paths = lru_cache(maxsize=64)(self._paths_at)
        self._lines = lru_cache(maxsize=4096)(self._lines_at)

    def has_commit(self, name: str) -> bool:
        """Say whether `name` is the name, whole or short, of exactly one commit."""
        return self._git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}") is not None

    def files(self, path: str, *, commit: str | None, before: str) -> tuple[TreeFile, ...]:
        """Return every file that `path` can mean at `commit`, else at the time `before`."""
        at = commit or self._at(before)
        if at is None:
            return ()
        wanted = normal_path(path).removeprefix(f"{self._top}/")
        name = wanted.rpartition("/")[2]
        return tuple(
            TreeFile(found, self._lines(at, found), at)
            for found in self._paths(at)
            if found.endswith(name) and may_mean(wanted, found)
        )

    def longest(self, path: str) -> int | None:
        """Return the lines of the longest version that is there now: head or work tree."""
        counts = [self._lines("HEAD", path)] if path in self._paths("HEAD") else []
        try:
            content = (self._top / path).read_bytes()
        except OSError:
            pass
        else:
            counts.append(_count(content))
        return max(counts, default=None)

    def _commit_at(self, before: str) -> str | None:
        found = self._git("rev-list", "-1", f"--before={before}", "HEAD")
        return found.strip() or None if found is not None else None

    def _paths_at(self, commit: str) -> tuple[str, ...]:
        found = self._git("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
        return tuple((found or "").rstrip("\0").split("\0"))

    def _lines_at(self, commit: str, path: str) -> int:
        command = ["git", "-C", str(self._top), "cat-file", "blob", f"{commit}:{path}"]
        return _count(self._run(command) or b"")

    def _git(self, *arguments: str) -> str | None:
        output = self._run(["git", "-C", str(self._directory), *arguments])
        return None if output is None else output.decode("utf-8", "surrogateescape")

    def _run(self, command: Sequence[str]) -> bytes | None:
        try:
            done = subprocess.run(  # noqa: S603 - fixed program, arguments never through a shell
                command,
                capture_output=True,
                check=False,
                timeout=_TIMEOUT,
                stdin=subprocess.DEVNULL,
            )
        except FileNotFoundError as error:
            raise UnavailableError(
                "git is not installed", "git on the path", "or leave out --repo"
            ) from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UnavailableError(f"git did not answer: {error}") from error
        return done.stdout if done.returncode == 0 else None


def _count(content: bytes) -> int:
    return content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
