"""Texts that say nearly the same: what is compared, how, and what is left out."""

import subprocess
import sys

import pytest

from counterfoil.core.knowledge.near import (
    NearLimits,
    NearPair,
    near_pairs,
    normal_text,
    runs_of,
)

LONG = " ".join(f"word{number}" for number in range(60))


def _places(candidates: list[str], others: list[str]) -> list[tuple[int, int]]:
    return [pair[:2] for pair in near_pairs(candidates, others).pairs]


def test_the_same_text_is_near_to_itself() -> None:
    """intake-gate: Letter case, white space, compatible forms and URLs make no other text."""
    one = f"{LONG} ﬁne https://example.org/a?b=1"
    two = f"{LONG.upper()}\n\n FINE  ftp://other.example/x"
    assert _places([one], ["", two]) == [(0, 2)]
    assert near_pairs([one], [two]).pairs[0].percent == 100


@pytest.mark.parametrize(("length", "is_near"), [(79, False), (80, True), (81, True)])
def test_a_short_text_is_near_to_none(length: int, is_near: bool) -> None:  # noqa: FBT001 - a case
    """intake-gate: Eighty characters are the fewest that say enough."""
    text = LONG[: length - 1] + "x"
    assert len(normal_text(text)) == length
    assert bool(near_pairs([text], [text]).pairs) is is_near


@pytest.mark.parametrize(("same", "is_near"), [(81, False), (82, True), (83, True)])
def test_eighty_two_of_a_hundred_runs_are_near(same: int, is_near: bool) -> None:  # noqa: FBT001
    """intake-gate: The measure is that of Jaccard, over runs of five words."""
    shared = [f"s{number}" for number in range(same + 4)]
    tail = [f"t{number}" for number in range(100 - same)]
    one, two = " ".join(shared), " ".join([*shared, *tail])
    assert (len(runs_of(normal_text(one))), len(runs_of(normal_text(two)))) == (same, 100)
    assert bool(near_pairs([one], [two]).pairs) is is_near


@pytest.mark.parametrize(("words", "kind"), [(6, str), (7, tuple), (8, tuple)])
def test_seven_words_make_runs_of_words(words: int, kind: type) -> None:
    """intake-gate: Below that, runs of sixteen characters are compared."""
    text = " ".join(f"{number}{'x' * 20}" for number in range(words))
    assert {type(run) for run in runs_of(text)} == {kind}


def test_texts_without_spaces_are_compared_too() -> None:
    """intake-gate: A script that writes no spaces has runs of characters."""
    text = "".join(chr(0x4E00 + number) for number in range(120))
    assert _places([text], [text[:-3], "".join(reversed(text))]) == [(0, 1)]
    assert {len(run) for run in runs_of(text)} == {16}


def test_candidates_are_compared_with_one_another() -> None:
    """intake-gate: A pair stands once, and two pages of the store are no pair."""
    assert _places([LONG, LONG + " more"], [LONG, LONG]) == [
        (0, 1),
        (0, 2),
        (0, 3),
        (1, 2),
        (1, 3),
    ]


@pytest.mark.parametrize(("pages", "is_near"), [(63, True), (64, True), (65, False)])
def test_what_a_template_gives_brings_no_pages_together(
    pages: int,
    is_near: bool,  # noqa: FBT001 - a case
) -> None:
    """intake-gate: A run that stands in more than 64 pages is passed over."""
    others = [f"{LONG} own{number}" for number in range(pages - 1)]
    found = near_pairs([f"{LONG} mine"], others)
    assert bool(found.pairs) is is_near
    assert found.uncompared == 0


def test_the_same_text_is_found_however_often_it_stands() -> None:
    """intake-gate: What is equal to the letter is always compared."""
    assert len(near_pairs([LONG], [LONG] * 100).pairs) == 100


@pytest.mark.parametrize(("pairs", "compared"), [(1, 1), (2, 2), (3, 2)])
def test_what_is_not_compared_is_counted(pairs: int, compared: int) -> None:
    """intake-gate: The pairs that share most are compared first."""
    found = near_pairs([LONG], [LONG, f"{LONG} more"], limits=NearLimits(pairs=pairs))
    assert [pair.other for pair in found.pairs] == [1, 2][:compared]
    assert found.uncompared == 2 - compared


def test_the_others_are_not_read_when_nothing_is_long_enough() -> None:
    """intake-gate: A gate before a short page costs nothing."""
    asked: list[str] = []

    def others() -> "list[str]":
        asked.append("read")
        return [LONG]

    assert near_pairs(["short"], (text for call in [others] for text in call())).pairs == ()
    assert asked == []


def test_a_pair_says_how_near_it_is() -> None:
    """intake-gate: Of a hundred, rounded down."""
    assert NearPair(0, 1, 199, 200).percent == 99


def test_nothing_depends_on_how_texts_are_hashed() -> None:
    """intake-gate: Two processes with other hash seeds find the same pairs."""
    script = (
        "from counterfoil.core.knowledge.near import NearLimits, near_pairs\n"
        "base = [f'w{n}' for n in range(80)]\n"
        "texts = [' '.join(base[:70 + n] + [f'z{n}']) for n in range(9)]\n"
        "print(near_pairs(texts[:4], texts[4:], limits=NearLimits(pages=7, pairs=11)))\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(said) == 1
    assert b"NearPair(" in said.pop()
