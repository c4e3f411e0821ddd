"""How much a command can do: the level of each part of a line, and of the line.

Rules over the words, never a guess: what no table knows is `moderate`, and what the
text does not show is `dangerous`. A part more never makes a line lower.
"""

import re

from counterfoil.core.gate.commands import Assignment, Redirection, Word
from counterfoil.core.gate.git import level_of_git
from counterfoil.core.gate.policy import FETCHERS, FORMATTERS, writes
from counterfoil.core.gate.reading import SHELLS, Line, Part
from counterfoil.core.gate.scale import Level, highest, raised
from counterfoil.core.gate.tables import (
    AWKS,
    DIRECTORIES,
    INTERPRETERS,
    MUCH,
    OTHER_VERBS,
    READING,
    SAME,
    SENSITIVE,
    STEERING,
    STEERING_BEGINNINGS,
    TELLS_VERSION,
    TOLD,
    VERBS,
)
from counterfoil.core.gate.verbs import VERBED, verb_of

_QUIET = frozenset(
    {"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2"}
)
_SED = re.compile(
    r"(?:[0-9$,~+!]{0,20}|/[^/\\\n]{0,200}/(?:,/[^/\\\n]{0,200}/)?)[pdq=]"
    r"|s([/|#,])[^\\/|#,\n]{0,200}\1[^\\/|#,\n]{0,200}\1[gip0-9]{0,4}"
)
_AWK_DOES = ("system", "|", "getline", ">", "@", "close", "ENVIRON")
_SETS_IDS = re.compile(r"[ugoa]{0,4}[+=][rwxXt]{0,5}s|[2467][0-7]{3}|0[2467][0-7]{3}")


def level_of(line: Line, *, sandbox: str) -> Level:
    """Return the level of `line`, one higher where `sandbox` is `none`."""
    parts: list[Level] = [part_level(part, sandbox=sandbox) for part in line.parts]
    return highest([*parts, _stricter(_level_as_a_whole(line), sandbox)])


def part_level(part: Part, *, sandbox: str) -> Level:
    """Return the level of one part by itself, one higher where `sandbox` is `none`."""
    return _stricter(_level(part), sandbox)


def _stricter(level: Level, sandbox: str) -> Level:
    return raised(level) if sandbox == "none" else level


def _level_as_a_whole(line: Line) -> Level:
    """Return what the parts say only together."""
    if not line.is_whole:
        return "dangerous"
    runs = line.reaching(_runs_what_it_reads)
    if any(runs(right) for _, right in line.pipes):
        return "dangerous"
    levels: list[Level] = ["safe"]
    if line.functions:
        levels.append("dangerous" if line.has_background else "moderate")
    if line.has_background:
        levels.append("moderate")
    fetches = line.reaching(lambda part: part.program in FETCHERS)
    for left, right in line.pipes:
        if fetches(right) and not fetches(left):  # what was read here goes out there
            levels.append("dangerous")
    return highest(levels)


def _runs_what_it_reads(part: Part) -> bool:
    return part.code == "unknown" or _interpreter_level(part) == "dangerous"


def _level(part: Part) -> Level:
    levels: list[Level] = [part.floor]
    levels.extend(map(_assignment_level, part.assignments))
    levels.extend(map(_redirection_level, part.redirections))
    if part.is_opaque:
        levels.append("dangerous")
    elif part.words:
        level = _program_level(part)
        levels.append(raised(level) if part.is_fed and level != "safe" else level)
        if part.is_fed and _known(part) in SENSITIVE:
            levels.append("moderate")
    return highest(levels)


def _assignment_level(assignment: Assignment) -> Level:
    name = assignment.name
    is_steering = name in STEERING or name.startswith(STEERING_BEGINNINGS)
    return "dangerous" if is_steering else "safe"


def _redirection_level(redirection: Redirection) -> Level:
    if not writes(redirection):
        return "safe"
    target = redirection.target
    if redirection.operator == ">&" and (target.text.isdigit() or target.text == "-"):
        return "safe"
    return "safe" if target.text in _QUIET else "dangerous"


def _known(part: Part) -> str:
    """Return the name under which the tables know the program; empty for a stranger."""
    directory, _, name = part.words[0].text.rpartition("/")
    if part.is_path and (directory or "/") not in DIRECTORIES:
        return ""
    return SAME.get(name, name)


def _program_level(part: Part) -> Level:
    name = SAME.get(part.program, part.program)
    levels: list[Level] = [_by_name(part, name)]
    if not _known(part):
        levels.append("moderate")
    words = part.words[1:]
    if name in SENSITIVE and any(map(_may_be_an_option, words)):
        levels.append("moderate")
    levels.append(_told_level(name, words))
    return highest(levels)


def _may_be_an_option(word: Word) -> bool:
    """Say whether `word`, which is not known yet, can begin with `-`."""
    return word.expands and word.text[:1] in {"$", "`", "*", "?", "[", "{", "-"}


def _by_name(part: Part, name: str) -> Level:
    if name in SHELLS:
        return _shell_level(part)
    interpreter = _interpreter_level(part)
    if interpreter is not None:
        return interpreter
    rule = _RULES.get(name)
    if rule is not None:
        return rule(part)
    if name in VERBED and (name in VERBS or name in OTHER_VERBS):
        return _verb_level(part, name)
    if name in READING:
        return "safe"
    is_much = name in MUCH or name in FORMATTERS or name.startswith("mkfs")
    return "dangerous" if is_much else "moderate"


def _told_level(name: str, words: tuple[Word, ...]) -> Level:
    told = TOLD.get(name)
    if not told:
        return "safe"
    levels: list[Level] = []
    for word in words:
        if word.text == "--" and name != "find":
            break
        if word.text[:1] in {"-", "+"}:
            levels.extend(level for option, level in told.items() if _is_told(word.text, option))
    return highest(levels)


def _is_told(word: str, option: str) -> bool:
    if option.startswith("--"):
        name = word.partition("=")[0]
        return len(name) > 2 and option.startswith(name)  # noqa: PLR2004 - shortened, not bare
    if len(option) > 2 or not option.startswith("-"):  # noqa: PLR2004 - the words of `find`
        return word == option
    return not word.startswith("--") and word.startswith("-") and option[1] in word[1:]


def _shell_level(part: Part) -> Level:
    """Code that is there is judged as parts of its own; a file is a program like another."""
    if part.code == "unknown":
        return "dangerous"
    return "moderate" if part.code == "file" else "safe"


def _interpreter_level(part: Part) -> Level | None:
    name = SAME.get(part.program, part.program)
    options = INTERPRETERS.get(name)
    if options is None:
        stem = name.rstrip("0123456789.")
        options = INTERPRETERS.get(stem)
    if options is None:
        return None
    words = part.arguments
    if "-m" in words and part.code == "file":  # what stands behind is the module's own
        words = words[: words.index("-m") + 2]
    if len(words) == 1 and words[0] in TELLS_VERSION | {"-V", "-v"}:
        return "safe"
    if any(_is_code(word, options) for word in words):
        return "dangerous"
    has_file = any(not word.startswith("-") for word in words)
    return "moderate" if has_file else "dangerous"


def _is_code(word: str, options: tuple[str, ...]) -> bool:
    if word.partition("=")[0] in options or (word[:1] == "+" and "+" in options):
        return True
    letters = {option[1] for option in options if len(option) == 2 and option[0] == "-"}  # noqa: PLR2004 - a dash and a letter
    is_cluster = word[:1] == "-" and word[:2] != "--"
    return is_cluster and bool(letters & set(word[1:]))


def _verb_level(part: Part, name: str) -> Level:
    words = part.words[1:]
    if len(words) == 1 and words[0].text in TELLS_VERSION:
        return "safe"
    other = OTHER_VERBS.get(part.program, OTHER_VERBS.get(name, "moderate"))
    verb = verb_of(name, words)
    if verb is None:
        return "dangerous" if any(word.expands for word in words) else other
    if name == "git":
        return level_of_git(verb)
    return VERBS.get(name, {}).get(verb.name, other)


def _sed_level(part: Part) -> Level:
    """Only scripts that cannot write or run anything are known to read."""
    words = [word for word in part.arguments if word not in {"-n", "-E", "-r", "-s", "-u"}]
    is_plain = bool(words) and _SED.fullmatch(words[0]) is not None
    return "safe" if is_plain and not any(word[:1] == "-" for word in words) else "moderate"


def _awk_level(part: Part) -> Level:
    words = part.arguments
    is_unknown = any(word.expands and not word.text[:1].isalpha() for word in part.words[1:])
    if is_unknown or any(does in word for word in words for does in _AWK_DOES):
        return "dangerous"
    takes_more = any(word.startswith(("-f", "-i", "-l", "-E", "--")) for word in words)
    return "moderate" if takes_more or not words else "safe"


def _date_level(part: Part) -> Level:
    told = [word for word in part.arguments if not word.startswith(("+", "-"))]
    if any(word.startswith(("-s", "--s")) for word in part.arguments):
        return "dangerous"
    return "moderate" if told and not part.arguments[0].startswith(("-d", "-r", "-j")) else "safe"


def _output_operand_level(part: Part) -> Level:
    """A second operand is a file that is written."""
    operands = [word for word in part.arguments if not word.startswith("-")]
    return "moderate" if len(operands) > 1 or "-r" in part.arguments else "safe"


def _operand_level(part: Part) -> Level:
    """Without an operand it tells something, with one it sets it."""
    return "moderate" if any(word[:1] != "-" for word in part.arguments) else "safe"


def _lookup_level(part: Part) -> Level:
    return "safe" if part.arguments[:1] in {("-v",), ("-V",)} else "moderate"


def _listing_level(part: Part) -> Level:
    return "safe" if part.arguments in {("-l",), ("-L",)} else "dangerous"


def _chmod_level(part: Part) -> Level:
    is_odd = any(_SETS_IDS.fullmatch(word) for word in part.arguments)
    return "dangerous" if is_odd else "moderate"


def _declared_level(part: Part) -> Level:
    """`export NAME=value` sets what an assignment would."""
    names = [word.partition("=")[0] for word in part.arguments]
    return highest(_assignment_level(Assignment(name, Word(""))) for name in names)


def _trap_level(part: Part) -> Level:
    return "dangerous" if part.is_opaque else "safe"


def _given_level(_: Part) -> Level:
    """What it runs is judged as parts of their own."""
    return "safe"


_RULES = {
    **dict.fromkeys(AWKS, _awk_level),
    "sed": _sed_level,
    "date": _date_level,
    "uniq": _output_operand_level,
    "xxd": _output_operand_level,
    "hostname": _operand_level,
    "command": _lookup_level,
    "kill": _listing_level,
    "crontab": _listing_level,
    "chmod": _chmod_level,
    "export": _declared_level,
    "readonly": _declared_level,
    "local": _declared_level,
    "declare": _declared_level,
    "typeset": _declared_level,
    "trap": _trap_level,
    "eval": _given_level,
}
"""Programs that neither a table of options nor one of verbs tells."""
