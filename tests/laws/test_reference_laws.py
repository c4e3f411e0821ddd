"""The laws of references: spans, resolution that only grows, verdicts that are derived.

Texts are drawn out of pieces of the grammars, so that references are met all the time;
numbers and paths come from small pools, so that they meet each other.
"""

from hypothesis import example, given
from hypothesis import strategies as st

from counterfoil.core.intervals import Intervals
from counterfoil.core.refs.cited import CHECKED, check_entries
from counterfoil.core.refs.entries import EntryReference, find_entry_references
from counterfoil.core.refs.literals import Commit, Place, Quotation, Source, find_literals
from counterfoil.core.refs.needles import Needle, fits, flatten, needles_of, places_of
from counterfoil.core.refs.resolve import Evidence, Resolution, Stance, place_evidence
from counterfoil.core.shown import FileSeen, FilesShown, How, may_write, seen_by_command

any_text = st.text(st.characters(exclude_categories=()))
_PIECES = ["entry", "entries", "ENTRY", "Entries", " ", "\n", "\r\n", ":", "#", "no. ", "numbers "]
_PIECES += [
    "7",
    "19",
    "0",
    "120",
    "1,000",
    "-",
    "–",
    " - ",
    "…",
    "..",
    " to ",
    " and ",
    ", ",
    ",",
    ";",
]
_PIECES += [
    "(",
    ")",
    "[",
    "]",
    "**",
    "`",
    "_",
    '"',
    " lines",
    "%",
    ".",
    "x",
    "é",
    "\u00ad",
    "\ud800",
]
_PIECES += ["İ", "٣", "²", "- ", "/", "re-", "or 9"]
_nouns = st.sampled_from(["entry", "entries", "ENTRY", "Entries"])
_gaps = st.sampled_from([" ", ": ", " #", " no. ", "\n", " numbers ", "\u00a0", " № "])
_wrappers = st.sampled_from([("", ""), ("(", ")"), ("**", "**"), ("`", "`"), ("(", ""), ("_", "_")])
_numbers = st.lists(
    st.sampled_from(["7", "19", "3-5", "9–2", "120", "1,000", "0", "#4", "5 to 6", "8 - 9", "٣"]),
    min_size=1,
    max_size=4,
)
_written = st.builds(
    lambda noun, gap, wrapper, numbers, separator: (
        f"{noun}{gap}{wrapper[0]}{separator.join(numbers)}{wrapper[1]}"
    ),
    _nouns,
    _gaps,
    _wrappers,
    _numbers,
    st.sampled_from([", ", " and ", ",", "; ", ", or ", ",\n"]),
)


@st.composite
def mixed(draw: st.DrawFn, whole: st.SearchStrategy[str], pieces: list[str]) -> str:
    """Draw a text of which about half is well formed, and the rest are pieces of it."""
    parts = draw(st.lists(st.booleans(), min_size=1, max_size=9))
    broken = st.lists(st.sampled_from(pieces), max_size=4).map("".join)
    return "".join(draw(whole) + draw(broken) if part else draw(broken) for part in parts)


entry_texts = mixed(_written, _PIECES)


@given(st.one_of(entry_texts, any_text))
def test_entry_references_stand_where_their_spans_say(text: str) -> None:
    """entry-grammar: Spans start at the noun, end with a list, ascend and do not overlap."""
    done = 0
    for reference in find_entry_references(text):
        start, end = reference.span
        assert done <= start < end <= len(text)
        done = end
        assert text[start:end].lower().startswith(("entry", "entries"))
        assert reference.items
        assert all(0 <= low <= high for low, high in reference.items)
        if text[start : start + 5].lower() == "entry" and "numbers" not in text[start:end].lower():
            assert len(reference.items) == 1


@given(any_text.filter(lambda text: "entr" not in text.lower()), entry_texts)
def test_text_before_moves_references_and_nothing_else(before: str, text: str) -> None:
    """entry-grammar: What stands before on another line shifts the spans."""
    shift = len(before) + 1
    moved = [
        EntryReference((low + shift, high + shift), items)
        for (low, high), items in (
            (reference.span, reference.items) for reference in find_entry_references(text)
        )
    ]
    assert list(find_entry_references(f"{before}\n{text}")) == moved


_items = st.lists(
    st.tuples(st.integers(1, 999), st.integers(0, 40)).map(lambda pair: (pair[0], sum(pair))),
    min_size=1,
    max_size=5,
)


@given(_items, st.sampled_from([", ", "; ", " and ", " or ", ", and "]), st.sampled_from("-–"))
def test_a_written_list_reads_back_as_itself(
    items: list[tuple[int, int]], separator: str, dash: str
) -> None:
    """entry-grammar: Reading inverts writing."""
    written = separator.join(str(a) if a == b else f"{a}{dash}{b}" for a, b in items)
    text = f"See entries {written}."
    (reference,) = find_entry_references(text)
    assert reference == EntryReference((4, len(text) - 1), tuple(items))


# --- the check of entries -----------------------------------------------------

_range = st.tuples(st.integers(0, 30), st.integers(0, 45)).map(lambda pair: (pair[0], sum(pair)))
references = st.lists(
    st.lists(_range, min_size=1, max_size=4).map(
        lambda items: EntryReference((0, 1), tuple(items))
    ),
    max_size=5,
)
far = st.tuples(st.integers(60, 170), st.integers(0, 60)).map(lambda pair: (pair[0], sum(pair)))
many = st.lists(
    st.lists(st.one_of(_range, far), min_size=1, max_size=4).map(
        lambda items: EntryReference((0, 1), tuple(items))
    ),
    max_size=6,
)
stored_sets = st.sets(st.integers(1, 60))


def _intervals(numbers: set[int]) -> Intervals:
    return Intervals((number, number) for number in numbers)


@given(st.one_of(references, many), stored_sets)
def test_entries_are_checked_as_a_plain_set_would(
    cited: list[EntryReference], stored: set[int]
) -> None:
    """entry-check: Checked, missing and unchecked are those of expanding everything."""
    distinct = list(
        dict.fromkeys(
            number
            for reference in cited
            for low, high in reference.items
            for number in range(low, high + 1)
        )
    )
    found = check_entries(cited, _intervals(stored))
    assert list(found.cited) == distinct[:CHECKED]
    assert list(found.missing) == [n for n in distinct[:CHECKED] if n not in stored]
    assert found.unchecked == len(distinct[CHECKED:])
    assert (found.line is None) == (not found.missing and not found.unchecked)


@given(st.one_of(references, many), stored_sets, st.integers(1, 60))
def test_one_entry_more_moves_its_own_verdict_alone(
    cited: list[EntryReference], stored: set[int], number: int
) -> None:
    """entry-check: What resolved once resolves for ever; no other number is touched."""
    fewer = check_entries(cited, _intervals(stored - {number}))
    more = check_entries(cited, _intervals(stored | {number}))
    assert more.cited == fewer.cited
    assert more.unchecked == fewer.unchecked
    assert more.missing == tuple(n for n in fewer.missing if n != number)


# --- literals -----------------------------------------------------------------

_LITERAL_PIECES = ["src/a.py", "a.py", "Makefile", "C:\\x\\y.rs", "a.example", ":", ":12", ":3-9"]
_LITERAL_PIECES += ["#L5", "-7", "commit ", "merged as ", "deadbee1", "0123456789abcdef", "è/b.py"]
_LITERAL_PIECES += ["https://docs.test/a", "http://localhost:8/", "://", "Sources:\n", "- ", "per "]
_LITERAL_PIECES += [
    "It says ",
    "the log reads ",
    "The output was:\n",
    "should print ",
    '"',
    "“",
    "”",
]
_LITERAL_PIECES += [
    "`",
    "```\n",
    "```diff\n",
    "~~~\n",
    "> ",
    "\n",
    " ",
    ".",
    ". ",
    "…",
    "[...]",
    "(",
]
_LITERAL_PIECES += [")", "*", "a line that is long enough to be one", "é", "\ud800", "\x1b[0m", "%"]
_LITERALS = [
    " src/a.py:12 ",
    " Makefile:3-9 ",
    " a.rs#L5-L9 ",
    " commit deadbee1 ",
    "\npushed abcdef12 ",
]
_LITERALS += [
    "\nper https://docs.test/a ",
    "\nSources:\n- https://docs.test/(b) \n",
    "\n> quoted\n",
]
_LITERALS += [
    '\nIt says "a line that is long enough to be one" ',
    "\nThe log reads `ImportError: no flask.ext` ",
]
_LITERALS += [
    "\nThe output was:\n```\na line … that is long enough to be one\n```\n",
    "\n```\na.py:1\n```\n",
]
literal_texts = mixed(st.sampled_from(_LITERALS), _LITERAL_PIECES)


@given(st.one_of(literal_texts, any_text))
def test_literals_stand_where_their_spans_say(text: str) -> None:
    """literals: The text of a span is what was read, and spans come in order."""
    found = find_literals(text)
    assert [one.span for one in found] == sorted(one.span for one in found)
    for literal in found:
        start, end = literal.span
        assert 0 <= start < end <= len(text)
        written = text[start:end]
        match literal:
            case Place():
                assert written.startswith(literal.path)
                assert str(literal.first) in written
                assert str(literal.last) in written
                assert 1 <= literal.first <= literal.last
            case Commit():
                assert written == literal.name
            case Source():
                assert written == literal.url
            case Quotation():
                assert literal.pieces
                assert all(piece in written for piece in literal.pieces)
        assert all(needle.text for needle in needles_of(literal))


@given(st.integers(1, 99), st.integers(0, 9), st.sampled_from([":{}", ":{}-{}", "#L{}-L{}"]))
def test_a_written_place_reads_back_as_itself(first: int, more: int, form: str) -> None:
    """literals: Reading inverts writing."""
    text = f"See src/app.py{form.format(first, first + more)}, then go on."
    last = first if form == ":{}" else first + more
    assert find_literals(text) == (
        Place(span=(4, text.index(",")), path="src/app.py", first=first, last=last),
    )


@given(st.sampled_from(["It says", "The log reads", "It failed with"]), literal_texts)
def test_a_quotation_is_found_in_what_it_quotes(lead: str, around: str) -> None:
    """literals: The needles of a quotation stand in any text that holds it."""
    line = "ImportError: no module named 'flask.ext'"
    (quotation,) = find_literals(f'{lead} "{line}".')
    (needle,) = needles_of(quotation)
    assert any(True for _ in places_of(needle, flatten(f"{around}\n{line}\n{around}")))


# --- what a record shows ------------------------------------------------------

_PATHS = ("a.py", "src/a.py", "./src/a.py", "lib/a.py", "/home/x/src/a.py", "b.py")
_hows: tuple[How, ...] = ("read", "written", "printed", "grepped")
observations = st.builds(
    lambda path, how, first, count, total, grown: FileSeen(
        path=path,
        how=how,
        first=first,
        last=first + count if first else 0,
        total=total,
        grown=grown if how == "written" else None,
    ),
    st.sampled_from(_PATHS),
    st.sampled_from(_hows),
    st.integers(0, 12),
    st.integers(0, 6),
    st.one_of(st.none(), st.integers(0, 20)),
    st.one_of(st.none(), st.integers(-4, 4)),
)


def _shown(seen: list[FileSeen | None]) -> FilesShown:
    files = FilesShown()
    for place, one in enumerate(seen):
        if one is None:
            files.may_change()
        else:
            files.add(one, place)
    return files


whole_files = st.builds(
    lambda path, total: FileSeen(path=path, how="read", first=1, last=total, total=total),
    st.sampled_from(_PATHS),
    st.integers(1, 9),
)
steps = st.lists(st.one_of(whole_files, observations, st.none()), max_size=6)


@given(steps, steps, st.sampled_from(_PATHS), st.integers(1, 15), st.integers(0, 4))
def test_more_observations_never_take_support_away(
    before: list[FileSeen | None], after: list[FileSeen | None], path: str, first: int, more: int
) -> None:
    """shown: A place that the record supports once is supported by every longer record."""
    last = first + more
    less = place_evidence(_shown(before).candidates(path, first, last), first)
    whole = place_evidence(_shown(before + after).candidates(path, first, last), first)
    if Resolution(less, "").verdict == "supported":
        assert Resolution(whole, "").verdict == "supported"
    assert len(whole) >= len(less)


@given(steps, st.sampled_from(_PATHS), st.integers(1, 15), st.integers(0, 4))
def test_a_place_is_contradicted_only_by_whole_files(
    seen: list[FileSeen | None], path: str, first: int, more: int
) -> None:
    """shown: Past the end needs every file that the path can mean, each known whole."""
    candidates = _shown(seen).candidates(path, first, first + more)
    resolution = Resolution(place_evidence(candidates, first), "file-not-in-record")
    if resolution.verdict == "contradicted":
        assert all(one.total is not None and first > one.total + 1 for one in candidates)
    if not candidates:
        assert (resolution.verdict, resolution.reason) == ("not_established", "file-not-in-record")


_stances: tuple[Stance, ...] = ("for", "against", "beside", "nothing")
evidence = st.lists(
    st.builds(
        lambda stance, number: Evidence(stance=stance, reason=f"{stance}-{number}", what=""),
        st.sampled_from(_stances),
        st.integers(1, 3),
    ),
    max_size=5,
)


@given(evidence)
def test_a_verdict_is_derived_from_all_evidence(found: list[Evidence]) -> None:
    """resolution: One for it supports; all against it contradict; else nothing is established."""
    resolution = Resolution(tuple(found), "none")
    stances = {one.stance for one in found if one.stance != "nothing"}
    expected = "not_established"
    if "for" in stances:
        expected = "supported"
    elif stances == {"against"}:
        expected = "contradicted"
    assert resolution.verdict == expected
    assert Resolution(tuple(reversed(found)), "none").verdict == expected
    assert (resolution.reason == "none") == (not found or not resolution.decisive)
    assert all(one.reason == resolution.reason for one in resolution.decisive)


@given(evidence)
def test_words_that_are_no_evidence_move_no_verdict(found: list[Evidence]) -> None:
    """resolution: The model's own words neither support nor contradict, wherever they stand."""
    nothing = Evidence(stance="nothing", reason="only-model-text", what="")
    verdict = Resolution(tuple(found), "none").verdict
    assert Resolution((nothing, *found), "none").verdict == verdict
    assert Resolution((*found, nothing), "none").verdict == verdict


_FLAT_PIECES = ["\x1b[31m", "\x1b]0;t\x07", "\x1b", "[", "0m", "1", "12", "→", "\t", " ", "\n", "“"]
_FLAT_PIECES += ["’", "x", "é", "\ud800", "]", "\x07", "\\"]
flat_texts = st.lists(st.sampled_from(_FLAT_PIECES), max_size=14).map("".join)


@example("1→2→x")
@example("\x1b\x1b[31m]x\x07")
@given(st.one_of(flat_texts, any_text))
def test_flattening_twice_is_flattening_once(text: str) -> None:
    """needles: What is searched for is flat in the same way as what is searched."""
    flat = flatten(text)
    assert flatten(flat) == flat
    assert flat == " ".join(flat.split())


@given(st.sampled_from(["a.py", "src/a.py", "a.py:3"]), literal_texts)
def test_a_needle_fits_only_where_its_text_stands(name: str, text: str) -> None:
    """needles: Every place of a needle holds its text, whether or not it fits there."""
    needle = Needle("file", name, name.partition(":")[0])
    for place in places_of(needle, text):
        assert text.startswith(name, place)
        assert fits(needle, text, place) in {True, False}


_SHELL = ["cat", "sed -n", "'1,3p'", "head", "-n 2", "grep -n", "a.py", "x", "|", "&&", ";", ">"]
_SHELL += ["2>&1", "/dev/null", "'", '"', "\\", "$(", "`", "(", ")", "\n", "git", "log", "-i", "&"]
_COMMANDS = [
    "cat a.py",
    "sed -n '1,3p' a.py",
    "head -n 2 a.py",
    "grep -n x a.py",
    "git log",
    "cd src",
]
_COMMANDS += ["nl -ba 'a b.py'", "uv run pytest -q", "rm a.py", "ls > b", "cat a.py | head -3"]
commands = st.one_of(
    st.lists(st.sampled_from(_SHELL), max_size=14).map(" ".join),
    st.builds(
        lambda commands, operator: operator.join(commands),
        st.lists(st.sampled_from(_COMMANDS), min_size=1, max_size=3),
        st.sampled_from([" && ", "; ", " | ", "\n", " || "]),
    ),
)
outputs = st.one_of(any_text, st.lists(st.sampled_from(["1:x", "2-y", "z", ""])).map("\n".join))


@given(st.one_of(commands, any_text), outputs, st.booleans())
def test_any_command_can_be_read(command: str, output: str, is_whole: bool) -> None:  # noqa: FBT001 - drawn
    """commands: No command raises, and what is read of its output is a range of lines."""
    assert may_write(command) in {True, False}
    for seen in seen_by_command(command, output, is_whole=is_whole):
        assert 0 <= seen.first <= seen.last
        assert seen.path
        assert seen.total is None or (is_whole and seen.total == seen.last)
