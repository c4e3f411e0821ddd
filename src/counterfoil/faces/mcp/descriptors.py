"""Standard input and output, kept for the protocol alone.

Once they are claimed, whatever else in this process or its children writes to standard
output writes to standard error, and whatever reads standard input reads nothing.
"""

import fcntl
import os
import sys
from dataclasses import dataclass

from counterfoil.core.errors import UnavailableError

_INPUT, _OUTPUT, _ERROR = 0, 1, 2
_FIRST_OTHER = 3


@dataclass(frozen=True, slots=True)
class ProtocolDescriptors:
    """The two descriptors that the protocol alone uses."""

    incoming: int
    outgoing: int


def claim_descriptors() -> ProtocolDescriptors:
    """Move standard input and output to descriptors that only the protocol knows.

    What was printed before and is still buffered goes to standard error, too.

    Raises:
        UnavailableError: One of them is closed.
    """
    if sys.stdin is None or sys.stdout is None:  # closed when the process began
        raise UnavailableError("standard input or output is closed", "both open")
    claimed = ProtocolDescriptors(_moved(_INPUT), _moved(_OUTPUT))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing if sys.stderr is None else _ERROR, _OUTPUT)
    os.dup2(nothing, _INPUT)
    os.close(nothing)
    sys.stdout.flush()
    return claimed


def _moved(descriptor: int) -> int:
    """Return another descriptor of the same file, one that no child gets."""
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_OTHER)
