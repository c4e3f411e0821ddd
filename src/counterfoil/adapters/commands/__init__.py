"""Commands of a shell, each in a process group of its own, ended at its bounds.

`ShellRunner` runs those that check a claim, `ConfinedRunner` those of an agent. Both
give a command no input and the environment that it is to have, and neither leaves
anything of its group behind; how that is done stands in `watching`, once.
"""

from counterfoil.adapters.commands.confined import ConfinedRunner
from counterfoil.adapters.commands.shell import ShellRunner

__all__ = ["ConfinedRunner", "ShellRunner"]
