"""Paths of a store and what may be written there."""

import pytest

from counterfoil.core.errors import InvalidIdError
from counterfoil.core.knowledge.changes import (
    FileChange,
    StorePath,
    may_be_written,
    pages_directory,
)

PAGES = StorePath("knowledge")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("/etc/passwd", "is absolute"),
        ("//host/share", "is absolute"),
        ("C:/x", "begins with a drive letter"),
        ("c:x", "begins with a drive letter"),
        ("a\\b", "has a backslash"),
        ("..\\b", "has a backslash"),
        ("a\0b", "has a control character"),
        ("a\nb", "has a control character"),
        ("a\x85b", "has a control character"),
        ("a\udc80", "has a control character or a lone surrogate"),
        ("..", "has the segment '..'"),
        ("a/../../b", "has the segment '..'"),
        (".", "has the segment '.'"),
        ("./a", "has the segment '.'"),
        ("a//b", "has the segment ''"),
        ("a/", "has the segment ''"),
        ("", "has the segment ''"),
    ],
)
def test_a_path_that_could_lead_out_is_none(text: str, fault: str) -> None:
    """store-paths: One line says what is wrong with it, and what would be right."""
    with pytest.raises(InvalidIdError) as refusal:
        StorePath(text)
    assert fault in refusal.value.found
    assert "\n" not in refusal.value.diagnosis()
    assert "stays below the store" in refusal.value.expected


@pytest.mark.parametrize("text", ["a", "...", "..a/b..", "knowledge/Über uns.md", "a b/ab:c.md"])
def test_a_path_of_plain_segments_is_kept_as_it_is(text: str) -> None:
    """store-paths: Dots inside of names mean nothing, letters are not changed."""
    path = StorePath(text)
    assert (path, "/".join(path.segments)) == (text, text)


def test_paths_in_two_normal_forms_are_two() -> None:
    """store-paths: A file has the name that it has."""
    assert StorePath("é.md") != StorePath("e\u0301.md")


@pytest.mark.parametrize("text", ["raw", "raw/pages", "RAW", ".counterfoil", ".Counterfoil/x"])
def test_pages_are_not_where_other_things_are_kept(text: str) -> None:
    """store-paths: In any letter case, for a disk that knows none."""
    with pytest.raises(InvalidIdError, match="pages directory"):
        pages_directory(text)


def test_a_pages_directory_may_be_any_other() -> None:
    """store-paths: A slash at its end is not part of it."""
    assert pages_directory("docs/wiki/") == StorePath("docs/wiki")
    assert pages_directory("rawhide") == StorePath("rawhide")


@pytest.mark.parametrize(
    "path",
    [
        "knowledge/a.md",
        "knowledge/deep/er/a.md",
        "raw/sources/a-01234567.txt",
        ".counterfoil/sources.json",
        ".counterfoil/lineage.json",
        ".counterfoil/promotions/1.json",
        ".counterfoil/receipts/a/1.json",
        ".counterfoil/migrations/1.json",
    ],
)
def test_what_a_store_is_made_of_may_be_written(path: str) -> None:
    """store-transactions: Pages, sources, their registry, lineage, promotions, receipts."""
    assert may_be_written(StorePath(path), PAGES)


@pytest.mark.parametrize(
    "path",
    [
        "knowledge",
        "knowledge.md",
        "knowledges/a.md",
        "raw/a.md",
        "raw/sources",
        ".counterfoil/journal",
        ".counterfoil/lock",
        ".counterfoil/index.db",
        ".counterfoil/sources.json/x",
        ".git/hooks/post-checkout",
        "README.md",
    ],
)
def test_nothing_else_may_be_written(path: str) -> None:
    """store-transactions: Not even by a list of changes that somebody forged."""
    assert not may_be_written(StorePath(path), PAGES)


def test_a_change_expects_anything_unless_it_says_so() -> None:
    """store-transactions: Neither a digest nor a mode has to be given."""
    change = FileChange(path=StorePath("knowledge/a.md"), after=None)
    assert (change.expected, change.mode) == ("anything", None)
