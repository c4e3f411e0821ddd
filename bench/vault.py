"""A vault of real documentation: the Markdown files of ten well-known packages, unchanged.

    python bench/vault.py /tmp/vault [--install] [--from FOLDER …] [--packages NAME …]

Findings about invented pages say what was planted; whether findings about real pages are
worth reading, only reading them says. Files are copied from what is installed here, to
`knowledge/<package>/…` below the given directory. `--install` first gets the npm packages
named below into `BENCH_NODE_MODULES`. Nothing of it belongs into the repository.
"""

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.peers import npm_install

PACKAGES = (
    "nodejs",
    "npm",
    "undici",
    "fastify",
    "eslint-plugin-import",
    "markdownlint",
    "pino",
    "node-gyp",
    "commander",
    "knex",
)
_FROM_NPM = {
    "undici": "7.30.2",
    "fastify": "5.12.8",
    "eslint-plugin-import": "2.32.0",
    "markdownlint": "0.40.0",
    "pino": "10.4.0",
    "node-gyp": "12.4.0",
    "commander": "14.0.3",
    "knex": "3.3.0",
}
_COUNT = 10
_DOCS = Path("/usr/share/doc")
_ENDINGS = (".md", ".md.gz")


class Found(NamedTuple):
    """A Markdown file, the package that it came with, and its path in the package."""

    package: str
    below: Path
    path: Path


def find(roots: Iterable[Path]) -> Iterator[Found]:
    """Yield every Markdown file below `roots`, symbolic links not followed."""
    for root in roots:
        for folder, _, names in os.walk(root):
            for name in sorted(names):
                path = Path(folder, name)
                if name.endswith(_ENDINGS) and not path.is_symlink() and path.is_file():
                    yield _placed(root, path)


def _placed(root: Path, path: Path) -> Found:
    """Return whose file `path` is: the innermost package's."""
    parts = path.relative_to(root).parts
    inner = [place for place, part in enumerate(parts[:-1]) if part == "node_modules"]
    first = inner[-1] + 1 if inner else 0
    length = 2 if parts[first].startswith("@") else 1
    package = "/".join(parts[first : first + length])
    below = parts[first + length :] or (path.name,)
    return Found(package, Path(*below), path)


def fullest(found: Iterable[Found]) -> dict[str, list[Found]]:
    """Return the files of each package; of a package in several places, the fullest copy."""
    copies: dict[tuple[str, Path], list[Found]] = defaultdict(list)
    for one in found:
        depth = len(one.below.parts)
        copies[one.package, one.path.parents[depth - 1]].append(one)
    best: dict[str, list[Found]] = {}
    for (package, _), files in copies.items():
        if len(files) > len(best.get(package, ())):
            best[package] = files
    return best


def chosen(packages: dict[str, list[Found]], wanted: Sequence[str]) -> list[str]:
    """Return the wanted packages that are here, filled up with those of most files."""
    here = [name for name in wanted if name in packages]
    others = sorted(packages, key=lambda name: (-len(packages[name]), name))
    return [*here, *(name for name in others if name not in here)][: max(_COUNT, len(here))]


def copy(files: Iterable[Found], knowledge: Path) -> int:
    """Copy `files` below `knowledge`, packed ones unpacked, and return their bytes."""
    size = 0
    for one in files:
        content = one.path.read_bytes()
        target = knowledge / one.package / one.below
        if target.suffix == ".gz":
            content, target = gzip.decompress(content), target.with_suffix("")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        size += len(content)
    return size


def _roots(node: Path, more: Sequence[Path]) -> list[Path]:
    """Return where packages stand; an outer folder is enough, not each one inside it."""
    roots = [*more, node / "node_modules", _DOCS, Path(sysconfig.get_path("purelib"))]
    npm = shutil.which("npm")
    if npm is not None:
        ran = subprocess.run([npm, "root", "-g"], capture_output=True, text=True, check=True)
        roots.append(Path(ran.stdout.strip()))
    return [root for root in dict.fromkeys(roots) if root.is_dir()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--install", action="store_true", help="get packages from npm first")
    parser.add_argument("--from", dest="more", type=Path, nargs="*", default=[])
    parser.add_argument("--packages", nargs="*", default=list(PACKAGES))
    given = parser.parse_args()
    knowledge = given.directory / "knowledge"
    if knowledge.exists():
        raise SystemExit(f"{knowledge} is there already; give another directory")
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="counterfoil-bench-")
        node = Path(os.environ.get("BENCH_NODE_MODULES") or stack.enter_context(temporary))
        if given.install and not npm_install(node, _FROM_NPM):
            raise SystemExit("npm is not here; run without --install")
        packages = fullest(find(_roots(node, given.more)))
        for name in chosen(packages, given.packages):
            size = copy(packages[name], knowledge)
            print(f"{name}: {len(packages[name])} pages, {size:,} bytes")


if __name__ == "__main__":
    main()
