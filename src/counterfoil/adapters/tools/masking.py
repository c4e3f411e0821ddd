"""What looks like a secret is not shown: in the command line of a process, in a setting.

Rather too much is masked than too little: a masked path can be asked for another way, a
secret that a model has read is in the record for good.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import cast

MASK = "***"

_MOST_CHARACTERS = 2000

_NAMES = (
    r"(?:pass(?:wd|word|phrase)?|pwd|secret|token|api-?_?key|access-?_?key|private-?_?key"
    r"|credential|auth(?:orization)?|bearer|cookie|session-?_?id|key|dsn|signature)"
)
_NAME = rf"[A-Za-z0-9_.-]{{0,64}}{_NAMES}[A-Za-z0-9_.-]{{0,64}}"
_VALUE = r"""(?:'[^']*'?|"[^"]*"?|[^\s'"&;,]+)"""

_CREDENTIALS = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://)[^\s?#@'\"]{1,500}@")
_HEADER = re.compile(
    r"(?i)\b((?:proxy-)?authorization|cookie|x-[a-z-]{0,40}(?:key|token))(\s*[:=]\s*)[^'\"]+"
)
_ASSIGNED = re.compile(rf"(?i)(?<![A-Za-z0-9_.-])({_NAME})([\"']?\s*[=:]\s*){_VALUE}")
_FLAG = re.compile(rf"(?i)(?<!\S)(--?{_NAME})(\s+)(?!-){_VALUE}")
_USER = re.compile(r"(?<!\S)(-u|--user|--proxy-user)([\s=]+)(?=\S*:)\S+")
_PASSWORD = re.compile(r"(?<!\S)(-p)(\s+)(?![-\d])\S+")
_JOINED_PASSWORD = re.compile(r"(?<!\S)(-p)(?=[^\s=-])\S+")
_TAKES_PASSWORD = re.compile(r"\b(?:mysql\w*|mariadb\w*|sshpass)\b")
_KNOWN = re.compile(
    r"\b(?:(?:gh[opsur]|github_pat|glpat|sk|pk|rk|xox[a-z]|hf|npm|pypi)[-_][A-Za-z0-9_-]{8,}"
    r"|A[KS]IA[A-Z0-9]{12,}|AIza[A-Za-z0-9_-]{20,}|eyJ[A-Za-z0-9_-]{8,}[A-Za-z0-9_.-]*)"
)
_LONG = re.compile(
    r"(?<![A-Za-z0-9_/+.=-])(?=[A-Za-z_+=-]*\d)(?=[\d_+=-]*[A-Za-z])[A-Za-z0-9_+=-]{32,}"
)
_WORD = re.compile(rf"(?is)(-{{0,2}}{_NAME}[=:]).+")
_FLAG_ALONE = re.compile(rf"(?i)--?{_NAME}")
_SECRET_NAME = re.compile(rf"(?i){_NAMES}")


def masked(text: str) -> str:
    """Return `text`, at most 2,000 characters of it, without what looks like a secret.

    >>> masked("curl --token abc https://me:pw@host/?api_key=1&x=2 PORT=80")
    'curl --token *** https://***@host/?api_key=***&x=2 PORT=80'
    """
    shown = _CREDENTIALS.sub(rf"\1{MASK}@", text[:_MOST_CHARACTERS])
    for pattern in (_HEADER, _ASSIGNED, _FLAG, _USER, _PASSWORD):
        shown = pattern.sub(rf"\1\2{MASK}", shown)
    if _TAKES_PASSWORD.search(shown):
        shown = _JOINED_PASSWORD.sub(rf"\1{MASK}", shown)
    return _LONG.sub(MASK, _KNOWN.sub(MASK, shown))


def masked_command(words: Iterable[str]) -> str:
    """Return the words of a command line as one text without what looks like a secret."""
    return masked(" ".join(_masked_values(words, shlex.quote)))


def masked_words(words: Iterable[str]) -> list[str]:
    """Return the words of a command line, each without what looks like a secret."""
    return [masked(word) for word in _masked_values(words, str)]


def _masked_values(words: Iterable[str], shown: Callable[[str], str]) -> Iterator[str]:
    """Yield `words` as they are `shown`, but for values whose names stand before them."""
    is_value = False
    for word in words:
        named = _WORD.fullmatch(word)
        if is_value and not word.startswith("-"):
            yield MASK
        elif named is not None:
            yield f"{named.group(1)}{MASK}"
        else:
            yield shown(word)
        is_value = _FLAG_ALONE.fullmatch(word) is not None


def is_secret_name(name: str) -> bool:
    """Say whether what has this name looks like a secret.

    >>> is_secret_name("api_key"), is_secret_name("PGPASSWORD"), is_secret_name("model")
    (True, True, False)
    """
    return _SECRET_NAME.search(name) is not None


def without_secrets(value: object) -> object:
    """Return a value of a configuration, with every value of an `env` and secrets masked."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        return {name: _of(name, one) for name, one in table.items()}
    if isinstance(value, list | tuple):
        rows = list(cast("Iterable[object]", value))
        if all(isinstance(row, str) for row in rows):
            return masked_words(cast("list[str]", rows))
        return [without_secrets(row) for row in rows]
    return value


def _of(name: str, value: object) -> object:
    if name == "env" and isinstance(value, Mapping):
        return dict.fromkeys(cast("Mapping[str, object]", value), MASK)
    return MASK if is_secret_name(name) and isinstance(value, str) else without_secrets(value)
