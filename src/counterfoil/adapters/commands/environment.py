"""What of the program's own environment a command of an agent gets: names that are listed.

A list of what is let through, not of what is held back: a secret has any name. Programs
find their way with what is here; whatever else a project needs (a proxy, a certificate,
the socket of an agent for keys) is configured by its name. What Counterfoil itself is
told by its environment is never handed on, whatever is configured.
"""

from collections.abc import Iterable, Mapping

_KEPT = frozenset({"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"})
_LOCALE = "LC_"
_OWN = "COUNTERFOIL_"


def environment_of(own: Mapping[str, str], names: Iterable[str] = ()) -> dict[str, str]:
    """Return the environment of a command, with the `names` that are configured of `own`.

    `TERM` is `dumb` unless it is one of them: nobody looks at what a command draws.
    """
    listed = _KEPT.union(names)
    kept = {
        name: value
        for name, value in own.items()
        if (name in listed or name.startswith(_LOCALE)) and not name.upper().startswith(_OWN)
    }
    return {"TERM": "dumb"} | kept
