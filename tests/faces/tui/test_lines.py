"""Long lines on a narrow screen."""

import pytest
from rich.cells import cell_len

from counterfoil.faces.tui.lines import pieces
from counterfoil.faces.tui.texts import rows_of


@pytest.mark.parametrize("width", [8, 9, 40])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "a b c " * 50,
        "word" * 50,
        "漢字" * 50,
        "a\u0301" * 500,
        "\u0301" * 500,
        "漢 a" * 99,
    ],
)
def test_pieces_fit_and_are_the_text(text: str, width: int) -> None:
    """tui: every character of a record can be seen."""
    found = list(pieces(text, width))
    assert "".join(found) == text
    assert all(cell_len(piece) <= width for piece in found)
    assert all(found) or found == [""]


@pytest.mark.parametrize(("length", "count"), [(39, 1), (40, 1), (41, 2)])
def test_a_line_is_wrapped_past_the_width(length: int, count: int) -> None:
    """tui: at the bound, one under, one over."""
    assert len(list(pieces("x" * length, 40))) == count


def test_what_steers_a_terminal_is_written_out_in_every_row() -> None:
    """plain-text: CRLF, NUL, escapes, lone surrogates."""
    rows = rows_of("a\r\n\x00b\n\x1b[2J\ud800\tc")
    assert [row.text for row in rows] == ["a\\x0d", "\\x00b", "\\x1b[2J\\ud800   c"]
