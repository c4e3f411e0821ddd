"""Laws of handles: reading and writing are inverse, and nothing raises."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.core.ids import HERE, SHARED, Origin, PageId, RunId
from counterfoil.core.refs.pages import Malformed, PageReference, format_handle, parse_handle

_PIECES = st.sampled_from(
    [
        "here",
        "shared",
        "inherited:",
        "::",
        ":",
        "x",
        "é",
        "é",
        "%",
        "/",
        "knowledge-ref:v1:",
        "%5B",
        '"',
        "\\",
        "😀",
        " ",
        "run-7",
        "null",
        "[",
        "]",
        ",",
        "①",
    ]
)
_TEXTS = st.lists(_PIECES, min_size=1, max_size=6).map("".join)


def _is_page(text: str) -> bool:
    return bool(text.strip())


def _is_run(text: str) -> bool:
    return text == text.strip() and "/" not in text and "\\" not in text


_PAGES = _TEXTS.filter(_is_page).map(PageId)
_ORIGINS = st.one_of(
    st.none(),
    st.sampled_from([HERE, SHARED]),
    _TEXTS.filter(_is_run).map(RunId).map(Origin.inherited),
)
_REFERENCES = st.builds(PageReference, _ORIGINS, _PAGES)


@given(_REFERENCES)
@settings(max_examples=1000)
def test_a_written_reference_reads_back_as_itself(reference: PageReference) -> None:
    """handles: `parse_handle` inverts `format_handle`."""
    assert parse_handle(format_handle(reference)) == reference


@given(_REFERENCES, _REFERENCES)
def test_different_references_never_share_a_handle(
    one: PageReference, other: PageReference
) -> None:
    """handles: Writing is injective."""
    assert (format_handle(one) == format_handle(other)) is (one == other)


@given(st.one_of(_TEXTS, st.text(), st.text().map(lambda text: f"knowledge-ref:v1:{text}")))
def test_any_text_is_read_or_malformed(text: str) -> None:
    """handles: Reading raises nothing, and what is read has one handle."""
    found = parse_handle(text)
    if isinstance(found, Malformed):
        assert found.text == text
    else:
        assert parse_handle(format_handle(found)) == found


def test_a_hundred_thousand_references_have_a_handle_each() -> None:
    """handles: Drawn at random, all read back, and no two different ones share a handle."""
    draw = Random(20261130)
    origins, signs = ["here", "shared", "inherited:", "knowledge-ref:v1:"], list("x:é%/😀 ")
    pieces = [*origins, *signs, "::"]
    seen: dict[str, PageReference] = {}
    for _ in range(100_000):
        page = "".join(draw.choices(pieces, k=draw.randint(2, 9)))
        run = "".join(draw.choices(("r", "1", ":", "::", "é", "a b"), k=draw.randint(1, 3)))
        if not _is_page(page) or not _is_run(run):
            continue
        origin = draw.choice((None, HERE, SHARED, Origin.inherited(RunId(run))))
        reference = PageReference(origin, PageId(page))
        handle = format_handle(reference)
        assert parse_handle(handle) == reference
        assert seen.setdefault(handle, reference) == reference
    assert len(seen) > 50_000
