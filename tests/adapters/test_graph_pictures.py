"""The picture of a graph: drawn by a program out of a wheel, or one clear line why not."""

import stat
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from counterfoil.adapters import graph as pictures
from counterfoil.adapters.graph import draw_svg
from counterfoil.core.errors import UnavailableError
from counterfoil.core.knowledge.graph import graph_of
from search_samples import Sample, draft, here

_SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = 'a "q" \\N </text><script>x</script> & [x]\n\x00\u202e 東京'


def _drawn(sample: Sample) -> str:
    return draw_svg(graph_of(sample.chain, tuple(sample.chain)), sample.chain)


def _texts(svg: str) -> list[str]:
    return ["".join(text.itertext()) for text in ET.fromstring(svg).iter(f"{_SVG}text")]


def _stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a program that runs `script` where graphviz-pure is looked for."""
    program = folder / "graphviz-pure"
    program.write_text(f"#!{sys.executable}\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))


@pytest.mark.parametrize("count", [1, 4, 40])
def test_every_page_is_in_the_picture_with_title_and_handle(count: int) -> None:
    """graph: As text that can be read and searched, on white, the same each time."""
    sample = here(
        *(
            draft(f"p{number}", title=f"Page {number}", links=[f"p{number // 2}"])
            for number in range(count)
        )
    )
    svg = _drawn(sample)
    texts = _texts(svg)
    assert {f"Page {number}" for number in range(count)} <= set(texts)
    assert {f"p{number}" for number in range(count)} <= set(texts)
    assert 'fill="white"' in svg
    assert svg == _drawn(sample)


def test_a_title_is_text_in_the_picture_and_nothing_else() -> None:
    """graph: No element, no script, no second line out of a title."""
    svg = _drawn(here(draft("a", title=HOSTILE)))
    assert _texts(svg) == ['a "q" \\N </text><script>x</script> & [x] \\x00\\u…', "a"]
    assert not list(ET.fromstring(svg).iter(f"{_SVG}script"))


@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_picture_is_of_so_many_pages_and_no_more(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """graph: One under the bound, at it, one over; past another one it is laid out otherwise."""
    monkeypatch.setattr(pictures, "MOST_PAGES", 3)
    monkeypatch.setattr(pictures, "LAYERED_PAGES", 2)
    sample = here(*(draft(f"p{number}") for number in range(count)))
    if count <= 3:
        assert len(_texts(_drawn(sample))) == 2 * count
    else:
        with pytest.raises(UnavailableError, match="a picture of 4 pages; expected at most 3"):
            _drawn(sample)


def test_without_the_extra_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """graph: It names the extra."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match=r"pip install 'counterfoil\[graph\]'"):
        _drawn(here(draft("a")))


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")
def test_a_program_that_fails_or_hangs_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """graph: With the first thing that it said."""
    _stand_in(tmp_path, monkeypatch, "import sys; sys.exit('no memory\\nand more')")
    monkeypatch.setattr(pictures, "_TIMEOUT", 60)
    with pytest.raises(UnavailableError, match=r"drew nothing: no memory$"):
        _drawn(here(draft("a")))
    _stand_in(tmp_path, monkeypatch, "import signal; signal.pause()")
    monkeypatch.setattr(pictures, "_TIMEOUT", 0.2)
    with pytest.raises(UnavailableError, match="did not answer"):
        _drawn(here(draft("a")))
