"""The stores that a command looks at, and how their places are shown."""

from typing import NamedTuple

from counterfoil.core.ids import Origin
from counterfoil.engine.chains import VisibleStores


class OpenStores(NamedTuple):
    """The stores that are meant, and what stands before the paths of each in what is shown."""

    visible: VisibleStores
    places: dict[Origin, str]
