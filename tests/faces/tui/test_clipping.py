"""How much of a reply is drawn."""

import pytest

from counterfoil.faces.tui.clipping import CHARACTERS, COST, Clip


@pytest.mark.parametrize(("size", "cut"), [(-1, 0), (0, 0), (1, 1)])
def test_characters_past_the_bound_are_counted(size: int, cut: int) -> None:
    """tui: at the bound, one under, one over."""
    clip = Clip()
    assert len(clip.take("x" * (CHARACTERS + size))) == CHARACTERS + min(size, 0)
    assert clip.cut == cut


@pytest.mark.parametrize("piece", ["\n", "|"])
@pytest.mark.parametrize(("size", "cut"), [(-1, 0), (0, 0), (1, 1)])
def test_lines_and_cells_past_the_bound_are_counted(piece: str, size: int, cut: int) -> None:
    """tui: at the bound, one under, one over."""
    clip = Clip()
    clip.take(piece * (COST + size))
    assert clip.cut == cut


def test_pieces_are_clipped_as_the_whole_is() -> None:
    """tui: how a reply was cut into pieces changes nothing."""
    text = "- item one\n\n  1. two | three\n> said\n" * 100
    whole, pieces = Clip(), Clip()
    assert whole.take(text) == "".join(pieces.take(character) for character in text)
    assert whole.cut == pieces.cut > 0
