"""Commands read by shfmt, the parser of mvdan/sh, in two dialects (ADR 17).

A text is read as POSIX says and as Bash does, since `/bin/sh` is either. It is whole
where both read the same commands out of it. The parser is the program that the package
`shfmt-py` brings; one in the search path is never used.
"""

from counterfoil.adapters.shell.parser import ShfmtParser

__all__ = ["ShfmtParser"]
