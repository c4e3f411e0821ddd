"""Sources that come into a store, and what is told of them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from counterfoil.adapters.files.imported import GivenText
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.adapters.files.sources import import_source, sources_of
from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import (
    ConflictError,
    CounterfoilError,
    InvalidIdError,
    NotFoundError,
    UnreadableError,
)
from counterfoil.core.knowledge.sources import Anchor, Source
from counterfoil.wire.registry import read_registry

NOW = "2026-03-01T09:00:00.000Z"
LATER = "2026-04-01T09:00:00.000Z"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[StoreRoot]:
    (tmp_path / "store").mkdir()
    with StoreRoot(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    directory = tmp_path / "papers"
    (directory / "deep" / "er").mkdir(parents=True)
    (directory / "One.md").write_bytes(b"one\n")
    (directory / "deep" / "two.PDF").write_bytes(b"%PDF\xff\0")
    (directory / "deep" / "er" / "three.txt").write_bytes(b"3\n" * 51)
    return directory


def registry(root: StoreRoot) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(root.read(".counterfoil/sources.json") or b"{}")
    return found


def put_registry(root: StoreRoot, content: bytes) -> None:
    root.make_directories(".counterfoil")
    (root.path / ".counterfoil" / "sources.json").write_bytes(content)


def test_a_file_is_copied_and_registered(root: StoreRoot, tree: Path) -> None:
    """kb-sources: All that is told of it, and a copy that nobody writes by accident."""
    digest = tagged_digest(b"one\n")
    source = Source(
        id=f"src-{digest[7:23]}",
        digest=digest,
        uri=(tree / "One.md").as_posix(),
        title="One",
        media_type="text/markdown",
        path=f"raw/sources/one-{digest[7:15]}.md",  # type: ignore[arg-type]
        created_at=NOW,
        valid_until="2026-12-31",
        anchors=(Anchor("all", 1, 1), Anchor("l1", 1, 1)),
    )
    assert import_source(root, tree / "One.md", now=NOW, valid_until="2026-12-31") == (source,)
    assert root.state(str(source.path)) == (b"one\n", 0o444)
    assert sources_of(root) == (source,)
    assert registry(root) == {
        "schema": 1,
        "sources": [
            {
                "id": source.id,
                "digest": digest,
                "uri": source.uri,
                "title": "One",
                "mediaType": "text/markdown",
                "path": source.path,
                "createdAt": NOW,
                "validUntil": "2026-12-31",
                "anchors": [
                    {"id": "all", "lineStart": 1, "lineEnd": 1},
                    {"id": "l1", "lineStart": 1, "lineEnd": 1},
                ],
            }
        ],
    }


def test_a_tree_is_imported_by_its_paths(root: StoreRoot, tree: Path) -> None:
    """kb-sources: In their order, each file with its own kind."""
    sources = import_source(root, tree, now=NOW)
    assert [(source.title, source.media_type) for source in sources] == [
        ("One", "text/markdown"),
        ("three", "text/plain"),
        ("two", "application/pdf"),
    ]
    assert [anchor.id for anchor in sources[1].anchors] == ["all", "l1", "l51"]
    assert [root.read(str(source.path)) for source in sources] == [
        b"one\n",
        b"3\n" * 51,
        b"%PDF\xff\0",
    ]
    assert sources_of(root) == sources


def test_one_content_is_one_source(root: StoreRoot, tree: Path) -> None:
    """kb-sources: From a file, from another file, or as text: one digest rule for all."""
    (tree / "copy.md").write_bytes(b"one\n")
    (first, *_) = import_source(root, tree, now=NOW)
    (again,) = import_source(root, GivenText("one\n", "Something else"), now=LATER)
    assert (again.id, again.path, again.title) == (first.id, first.path, "One")
    assert (again.created_at, again.last_verified_at) == (NOW, LATER)
    assert len(sources_of(root)) == 3
    assert read_registry(root.read(".counterfoil/sources.json")).repeated == ()


def test_a_text_says_where_it_is_from_if_anybody_knows(root: StoreRoot) -> None:
    """kb-sources: Else it is named after itself."""
    (given,) = import_source(
        root, GivenText("a", " The Title ", "https://example.org/a"), now="2026-03-01"
    )
    (unnamed,) = import_source(root, GivenText("b", "  "), now=NOW)
    assert (given.title, given.uri) == ("The Title", "https://example.org/a")
    assert str(given.path).startswith("raw/sources/the-title-")
    assert (unnamed.title, unnamed.uri) == ("text", f"text:{unnamed.id}")
    assert unnamed.media_type == "text/plain"


def test_unknown_kinds_are_told_by_their_bytes(root: StoreRoot, tmp_path: Path) -> None:
    """kb-sources: Text, or just bytes."""
    (tmp_path / "a.unheardof").write_bytes(b"text")
    (tmp_path / "b.unheardof").write_bytes(b"\0")
    for name, kind in (("a", "text/plain"), ("b", "application/octet-stream")):
        (source,) = import_source(root, tmp_path / f"{name}.unheardof", now=NOW)
        assert source.media_type == kind


@pytest.mark.parametrize("kind", ["link", "dangling link", "link to a directory", "pipe"])
@pytest.mark.parametrize("above", ["", "deep/er/"])
def test_a_tree_with_something_special_is_refused_whole(
    root: StoreRoot, tree: Path, kind: str, above: str
) -> None:
    """kb-sources: Nothing is imported, and the line names it."""
    odd = tree / f"{above}zz-odd"
    if kind == "pipe":
        os.mkfifo(odd)
    else:
        targets = {"link": "One.md", "dangling link": "none", "link to a directory": "deep"}
        odd.symlink_to(tree / targets[kind])
    with pytest.raises(UnreadableError) as refusal:
        import_source(root, tree, now=NOW)
    assert str(odd) in refusal.value.found
    assert list(root.path.iterdir()) == []


def test_a_link_is_no_file_to_import(root: StoreRoot, tree: Path) -> None:
    """kb-sources: Its target can be named; links above it are the caller's own."""
    (tree / "link.md").symlink_to("One.md")
    (tree.parent / "way").symlink_to(tree)
    with pytest.raises(UnreadableError, match=r"link\.md is a symbolic link"):
        import_source(root, tree / "link.md", now=NOW)
    assert len(import_source(root, tree.parent / "way" / "One.md", now=NOW)) == 1


@pytest.mark.parametrize("name", ["none", "none/deep.md", "One.md/deep"])
def test_nothing_is_imported_of_nothing(root: StoreRoot, tree: Path, name: str) -> None:
    """kb-sources: One line says where nothing is."""
    with pytest.raises(NotFoundError, match=f"nothing at .*{name}"):
        import_source(root, tree / name, now=NOW)


def test_an_empty_tree_has_no_sources(root: StoreRoot, tmp_path: Path) -> None:
    """kb-sources: That is no fault; nor is a registry made for it."""
    (tmp_path / "empty").mkdir()
    assert import_source(root, tmp_path / "empty", now=NOW) == ()
    assert list(root.path.iterdir()) == []


@pytest.mark.parametrize(
    ("now", "valid_until"), [("today", None), (NOW, "some day"), (NOW, "2026-02-30")]
)
def test_a_time_has_to_be_one(root: StoreRoot, now: str, valid_until: str | None) -> None:
    """kb-sources: What could never be compared is not registered."""
    with pytest.raises(InvalidIdError, match="time '"):
        import_source(root, GivenText("a", "a"), now=now, valid_until=valid_until)


def test_a_text_that_is_none_is_refused(root: StoreRoot) -> None:
    """kb-sources: It has no bytes to keep."""
    with pytest.raises(InvalidIdError, match="lone surrogate at 1"):
        import_source(root, GivenText("a\ud800", "a"), now=NOW)


def test_what_others_wrote_into_the_registry_stays(root: StoreRoot) -> None:
    """kb-sources: Unknown keys, their order, and rows that are not of ours."""
    digest = tagged_digest(b"one\n")
    known = {"note": [1], "id": "s1", "digest": digest, "mine": {"é": "\ud800"}, "anchors": []}
    value = {"by": "hand", "schema": 1, "sources": [known, {"id": "s2"}], "more": None}
    put_registry(root, json.dumps(value).encode())
    (source,) = import_source(root, GivenText("one\n", "One"), now=NOW, valid_until="2027-01-01")
    assert source.id == "s1"
    after = registry(root)
    assert list(after) == ["by", "schema", "sources", "more"]
    times = {"lastVerifiedAt": NOW, "validUntil": "2027-01-01"}
    assert after["sources"] == [{**known, **times}, {"id": "s2"}]
    assert list(after["sources"][0])[:5] == list(known)
    assert root.read(f"raw/sources/u-{digest[7:15]}") == b"one\n"


def test_rows_of_any_form_are_read(root: StoreRoot) -> None:
    """kb-sources: What they do not say is empty, what they say wrongly is not known."""
    anchors = [{"id": "l1", "lineStart": True, "lineEnd": 7}]
    rows = [{"id": "s1", "digest": [1], "path": "../x", "title": 3, "anchors": anchors}]
    put_registry(root, json.dumps({"schema": 1, "sources": rows}).encode())
    (source,) = sources_of(root)
    assert source == Source(
        id="s1",
        digest="",
        uri="",
        title="",
        media_type="",
        path=None,
        created_at="",
        anchors=(Anchor("l1", None, 7),),
    )
    assert sources_of(root) == (source,)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b'{"schema": 2, "sources": []}', b"\xff", b'{"schema": 1, "sources": [7]}'],
)
def test_a_registry_that_is_none_is_named(root: StoreRoot, content: bytes) -> None:
    """kb-sources: Nothing is written over it."""
    put_registry(root, content)
    with pytest.raises(UnreadableError, match=r"\.counterfoil/sources\.json: the registry"):
        sources_of(root)
    with pytest.raises(UnreadableError, match=r"\.counterfoil/sources\.json: the registry"):
        import_source(root, GivenText("a", "a"), now=NOW)
    assert root.read(".counterfoil/sources.json") == content
    assert not (root.path / "raw").exists()


def test_without_a_registry_there_are_no_sources(root: StoreRoot) -> None:
    """kb-sources: That is no fault."""
    assert sources_of(root) == ()


def test_an_id_with_other_bytes_is_a_conflict(root: StoreRoot) -> None:
    """kb-sources: The line names both digests."""
    digest = tagged_digest(b"one\n")
    rows = [{"id": f"src-{digest[7:23]}", "digest": "sha256:other"}]
    put_registry(root, json.dumps({"schema": 1, "sources": rows}).encode())
    with pytest.raises(ConflictError) as refusal:
        import_source(root, GivenText("one\n", "One"), now=NOW)
    assert "'sha256:other'" in refusal.value.found
    assert digest in refusal.value.expected


def test_a_copy_is_never_changed(root: StoreRoot) -> None:
    """kb-sources: Other bytes at its place are a conflict; a copy that is gone comes back."""
    (source,) = import_source(root, GivenText("one\n", "One"), now=NOW)
    copy = root.path / str(source.path)
    copy.unlink()
    copy.write_bytes(b"changed")
    with pytest.raises(ConflictError, match="holds other bytes"):
        import_source(root, GivenText("one\n", "One"), now=LATER)
    assert (copy.read_bytes(), sources_of(root)) == (b"changed", (source,))
    copy.unlink()
    import_source(root, GivenText("one\n", "One"), now=LATER)
    assert root.state(str(source.path)) == (b"one\n", 0o444)


def test_a_copy_and_its_row_come_together(root: StoreRoot) -> None:
    """kb-sources: Something in the way of the one keeps the other out."""
    (root.path / "raw").mkdir()
    (root.path / "raw" / "sources").write_bytes(b"")
    with pytest.raises(CounterfoilError, match=r"raw/sources is a file"):
        import_source(root, GivenText("one\n", "One"), now=NOW)
    assert root.read(".counterfoil/sources.json") is None
