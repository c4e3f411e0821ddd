"""Faults that users of such tools met with stores of pages: each case has its test here.

What concerns the reading of a single page stands in tests/wire/test_open_cases_pages.py.
"""

import json
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from adapters.stores import lint, opened, write_files
from counterfoil.adapters.files.run_lineage import FileLineage
from counterfoil.adapters.files.run_places import FileRunPlaces
from counterfoil.core.errors import InvalidIdError
from counterfoil.core.knowledge.findings import Finding
from counterfoil.core.knowledge.resolution import resolve_handle
from counterfoil.engine.chains import load_chain
from counterfoil.engine.run_stores import Runs

QUIET = {"orphan", "no-outlinks"}


def _lint(root: Path, files: Mapping[str, Any], run: str | None = None) -> list[Finding]:
    """Write the pages and return the findings, but for those about connections."""
    write_files(root, files)
    return [found for found in lint(root, run).findings if found.code not in QUIET]


def _pages(**texts: str) -> dict[str, str]:
    return {f"knowledge/{name.replace('__', '/')}.md": text for name, text in texts.items()}


def _rows(found: list[Finding]) -> list[tuple[str, str, str | None]]:
    return [(one.code, one.path.removeprefix("knowledge/"), one.written) for one in found]


def test_c93_an_ambiguous_name_lists_its_candidates_in_a_stable_order(tmp_path: Path) -> None:
    """open-cases: C93 Never resolved silently to one file."""
    readme = "---\nid: readme\n---\n"
    files = _pages(b__README=readme, a__README=readme, page="---\nid: page\ncites: [readme]\n---\n")
    found = [one for one in _lint(tmp_path, files) if one.code == "ambiguous-citation"]
    assert [(one.written, [page.path for page in one.candidates]) for one in found] == [
        ("readme", ["knowledge/a/README.md", "knowledge/b/README.md"])
    ]


def test_c94_a_duplicate_id_is_told_with_both_paths(tmp_path: Path) -> None:
    """open-cases: C94 The second page does not take the place of the first."""
    files = _pages(
        y="---\nid: k1\n---\nY", x="---\nid: k1\n---\nX", p="---\nid: p\ncites: k1\n---\n"
    )
    found = _lint(tmp_path, files)
    assert [(one.code, one.path) for one in found] == [
        ("ambiguous-citation", "knowledge/p.md"),
        ("duplicate-page-id", "knowledge/x.md"),
        ("duplicate-page-id", "knowledge/y.md"),
    ]
    assert "knowledge/y.md" in found[1].message
    assert "knowledge/x.md" in found[2].message


def test_c96_a_decomposed_file_name_answers_to_a_composed_citation(tmp_path: Path) -> None:
    """open-cases: C96 No false missing, and no false orphan."""
    name = unicodedata.normalize("NFD", "Übersicht")
    files = {
        f"knowledge/{name}.md": "# Text\n",
        "knowledge/p.md": "---\nid: p\ncites: ['übersicht']\n---\n[[Übersicht]]\n",
    }
    write_files(tmp_path, files)
    assert [(one.code, one.path) for one in lint(tmp_path).findings] == [
        ("no-outlinks", f"knowledge/{name}.md"),
        ("orphan", "knowledge/p.md"),
    ]


def test_c97_compatibility_forms_are_not_one_page(tmp_path: Path) -> None:
    """open-cases: C97 `①` is not `1`."""
    files = {
        "knowledge/①.md": "---\nid: ①\n---\n",
        "knowledge/1.md": "---\nid: '1'\n---\n",
        "knowledge/p.md": "---\nid: p\ncites: ['1']\n---\n",
    }
    assert _lint(tmp_path, files) == []


def test_c98_dates_are_ids_as_they_are_written(tmp_path: Path) -> None:
    """open-cases: C98 No date object, no timestamp."""
    files = _pages(
        a="---\nid: 2024-12-19\n---\n", b="---\nid: b\ncites: [2024-12-19, 2024-12-20]\n---\n"
    )
    assert _rows(_lint(tmp_path, files)) == [
        ("coerced-id", "a.md", "2024-12-19"),
        ("missing-citation", "b.md", "2024-12-20"),
    ]


def test_c100_a_comment_in_a_field_is_told_and_no_page_vanishes(tmp_path: Path) -> None:
    """open-cases: C100 What the author sees is not what is read."""
    files = _pages(p="---\nid: p\ncites: #176\n---\n", q="---\nid: q\ncites: [#a, #b]\n---\n")
    found = _lint(tmp_path, files)
    assert [(one.code, one.path) for one in found] == [
        ("comment-in-field", "knowledge/p.md"),
        ("bad-frontmatter", "knowledge/q.md"),
    ]
    assert found[0].line == 3
    assert found[1].line is not None
    assert lint(tmp_path).checked.pages == 2


def test_c110_part_of_a_name_is_no_name(tmp_path: Path) -> None:
    """open-cases: C110 `todo` is not `another-todo`."""
    files = _pages(todo="", p="---\nid: p\ncites: [todo]\n---\n[[todo]]", sub__xtodo="")
    files["knowledge/another-todo.md"] = ""
    assert _lint(tmp_path, files) == []


def test_c111_an_id_wins_over_an_alias_and_folded_aliases_are_ambiguous(tmp_path: Path) -> None:
    """open-cases: C111 Aliases are names of links, and never handles."""
    files = _pages(
        a="---\nid: a\naliases: [NAC]\n---\n",
        b="---\nid: b\naliases: [NAc, c]\n---\n",
        c="---\nid: c\n---\n",
        p="---\nid: p\ncites: [NAC, c]\n---\n[[NAC]] [[c]]\n",
    )
    assert _rows(_lint(tmp_path, files)) == [
        ("missing-citation", "p.md", "NAC"),
        ("ambiguous-link", "p.md", "NAC"),
    ]
    with opened(tmp_path) as visible:
        page = resolve_handle(load_chain(visible), "c").page
    assert page is not None
    assert page.page.path == "knowledge/c.md"


def _record(run: str, parent: str | None) -> str:
    return json.dumps({"run": run, "parent": parent, "createdAt": "2026-03-01T09:00:00.000Z"})


def test_c114_nothing_shadows_an_inherited_page(tmp_path: Path) -> None:
    """open-cases: C114 Bare is ambiguous, qualified picks one, and no origin falls back."""
    at = "runs/{}/knowledge-base/{}"
    files = {
        at.format("r1", ".counterfoil/lineage.json"): _record("r1", None),
        at.format("r1", "knowledge/k1.md"): "---\nid: k1\n---\nv1\n",
        at.format("r2", ".counterfoil/lineage.json"): _record("r2", "r1"),
        at.format("r2", "knowledge/k1.md"): "---\nid: k1\n---\nv2\n",
        at.format("r2", "knowledge/p.md"): "---\nid: p\ncites: [k1]\n---\n",
        at.format("r2", "knowledge/q.md"): "---\nid: q\ncites: ['here::k1']\n---\n",
        at.format("r2", "knowledge/r.md"): "---\nid: r\ncites: ['inherited:r1::k1']\n---\n",
        at.format("r2", "knowledge/s.md"): "---\nid: s\ncites: ['shared::k1']\n---\n",
    }
    found = _lint(tmp_path, files, "r2")
    assert _rows(found) == [
        ("ambiguous-citation", "p.md", "k1"),
        ("missing-citation", "s.md", "shared::k1"),
    ]
    assert found[0].handles == ("here::k1", "inherited:r1::k1")


@pytest.mark.parametrize(
    "written", ["../../../etc/passwd", "/etc/passwd", "a/../../b", "..%2f..%2fb", "..\\..\\b"]
)
def test_c115_a_citation_is_never_a_way_to_a_file(written: str, tmp_path: Path) -> None:
    """open-cases: C115 Missing, as it is written, and nothing outside is touched."""
    files = {
        "store/knowledge/p.md": f"---\nid: p\ncites: ['{written}']\n---\n[[{written}]]\n",
        "b.md": "---\nid: b\n---\n",
    }
    write_files(tmp_path, files)
    found = [one for one in lint(tmp_path / "store").findings if one.code not in QUIET]
    assert [(one.code, one.written) for one in found] == [
        ("missing-citation", written),
        ("broken-link", written),
    ]


def test_c115_a_run_id_makes_no_directory_elsewhere(tmp_path: Path) -> None:
    """open-cases: C115 Refused, by its name."""
    places = FileRunPlaces(tmp_path / "runs")
    with pytest.raises(InvalidIdError, match=r"'\.\./x'"):
        Runs(places, FileLineage(places, lambda: "")).lineage("../x")
    assert list(tmp_path.iterdir()) == []


def test_c116_a_link_that_leads_outside_is_not_followed(tmp_path: Path) -> None:
    """open-cases: C116 What it points to is not in the store."""
    files = {
        "outside/secret.md": "---\nid: secret\n---\n",
        "store/knowledge/p.md": "---\nid: p\ncites: [secret]\n---\n",
        "store/knowledge/leak.md": {"symlink": "../../outside/secret.md"},
    }
    write_files(tmp_path, files)
    found = [one for one in lint(tmp_path / "store").findings if one.code not in QUIET]
    assert _rows(found) == [
        ("skipped-link", "leak.md", None),
        ("missing-citation", "p.md", "secret"),
    ]


def test_c117_a_loop_of_links_ends_and_a_dead_one_is_told(tmp_path: Path) -> None:
    """open-cases: C117 The page is there once."""
    files = {
        "knowledge/a.md": "---\nid: a\n---\n",
        "knowledge/loop": {"symlink": ".."},
        "knowledge/dead.md": {"symlink": "nowhere"},
    }
    found = _lint(tmp_path, files)
    assert [(one.code, one.path) for one in found] == [
        ("skipped-link", "knowledge/dead.md"),
        ("skipped-link", "knowledge/loop"),
    ]
    assert lint(tmp_path).checked.pages == 1
