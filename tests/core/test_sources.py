"""What a source is called, which parts it has, and how long it is valid."""

import pytest

from counterfoil.core.knowledge.sources import (
    Anchor,
    anchors_of,
    copy_path,
    freshness,
    is_text,
    is_time,
    source_id,
)

DIGEST = "sha256:0123456789abcdef0123"


def test_a_source_is_named_after_its_bytes() -> None:
    """kb-sources: The first 16 digits of their digest."""
    assert source_id(DIGEST) == "src-0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("Paper (final).pdf", "raw/sources/paper-final-01234567.pdf"),
        ("README", "raw/sources/readme-01234567"),
        (".env", "raw/sources/env-01234567"),
        ("archive.tar.gz", "raw/sources/archive-tar-01234567.gz"),
        ("what is this?", "raw/sources/what-is-this-01234567"),
        ("a.b c", "raw/sources/a-b-c-01234567"),
        ("①.txt", "raw/sources/u2460-01234567.txt"),
        ("x.0123456789", "raw/sources/x-01234567.0123456789"),
        ("x.0123456789a", "raw/sources/x-0123456789a-01234567"),
    ],
)
def test_a_copy_keeps_what_a_name_tells(name: str, path: str) -> None:
    """kb-sources: Slug, eight digits, and an extension of up to ten letters."""
    assert copy_path(name, DIGEST) == path


@pytest.mark.parametrize(("letters", "kept"), [(119, 119), (120, 120), (121, 120)])
def test_the_name_of_a_copy_is_bounded(letters: int, kept: int) -> None:
    """kb-sources: 120 bytes of the slug."""
    assert copy_path("x" * letters, DIGEST) == f"raw/sources/{'x' * kept}-01234567"


def test_no_letter_of_a_long_name_is_halved() -> None:
    """kb-sources: The bound is in bytes, the cut is between letters."""
    assert copy_path("x" + "ü" * 100, DIGEST) == f"raw/sources/x{'ü' * 59}-01234567"


@pytest.mark.parametrize(
    ("lines", "anchors"),
    [
        (1, [("l1", 1, 1)]),
        (49, [("l1", 1, 49)]),
        (50, [("l1", 1, 50)]),
        (51, [("l1", 1, 50), ("l51", 51, 51)]),
        (101, [("l1", 1, 50), ("l51", 51, 100), ("l101", 101, 101)]),
    ],
)
def test_a_text_has_an_anchor_for_each_fifty_lines(
    lines: int, anchors: list[tuple[str, int, int]]
) -> None:
    """kb-sources: And one for all of it; a last LF begins no line."""
    expected = (Anchor("all", 1, lines), *(Anchor(*anchor) for anchor in anchors))
    assert anchors_of(b"x\n" * lines) == expected
    assert anchors_of((b"x\n" * lines)[:-1]) == expected


def test_no_text_at_all_has_one_line() -> None:
    """kb-sources: An empty source can still be referred to."""
    assert anchors_of(b"") == (Anchor("all", 1, 1), Anchor("l1", 1, 1))


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\0b"])
def test_what_is_no_text_has_no_lines(content: bytes) -> None:
    """kb-sources: Only `all` of it can be referred to."""
    assert not is_text(content)
    assert anchors_of(content) == (Anchor("all"),)


@pytest.mark.parametrize(
    ("valid_until", "now", "state"),
    [
        ("2026-03-01T09:00:00Z", "2026-03-01T08:59:59.999Z", "fresh"),
        ("2026-03-01T09:00:00Z", "2026-03-01T09:00:00.000Z", "fresh"),
        ("2026-03-01T09:00:00Z", "2026-03-01T09:00:00.001Z", "expired"),
        ("2026-03-01T10:00:00+01:00", "2026-03-01T09:00:00Z", "fresh"),
        ("2026-03-01T10:00:00+01:00", "2026-03-01T09:00:01Z", "expired"),
        ("2026-02-28T23:30:00-01:00", "2026-03-01T00:30:00Z", "fresh"),
        ("2026-03-01", "2026-03-01T23:59:59.999Z", "fresh"),
        ("2026-03-01", "2026-03-02T00:00:00Z", "expired"),
        ("2024-02-29", "2024-03-01", "expired"),
        ("2026-12-31", "2027-01-01", "expired"),
        ("2026-03-01t09:00:00.5z", "2026-03-01T09:00:00.500Z", "fresh"),
        (None, "2026-03-01", "unknown"),
        ("", "2026-03-01", "unknown"),
        ("next year", "2026-03-01", "unknown"),
        ("2026-03-01", "now", "unknown"),
    ],
)
def test_a_source_is_fresh_up_to_its_time(valid_until: str | None, now: str, state: str) -> None:
    """kb-sources: Whatever the zone; a day lasts to its end."""
    assert freshness(valid_until, now) == state


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("2024-02-29", True),
        ("2000-02-29", True),
        ("2023-02-29", False),
        ("1900-02-29", False),
        ("2026-04-31", False),
        ("2026-00-10", False),
        ("2026-13-10", False),
        ("2026-01-00", False),
        ("2026-03-01T09:00:00", False),
        ("2026-03-01T24:00:00Z", False),
        ("2026-06-30T23:59:60Z", True),
        ("2026-3-1", False),
        ("2026-03-01T09:00:00Z\n", False),
        ("٢٠٢٦-03-01", False),
    ],
)
def test_a_time_is_a_day_that_exists(text: str, *, is_one: bool) -> None:
    """kb-sources: Of RFC 3339, with its zone."""
    assert is_time(text) is is_one
