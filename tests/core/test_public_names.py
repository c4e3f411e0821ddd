"""The public names of the package: all of them there, each where it lives, and no other."""

import importlib
import subprocess
import sys
from importlib import metadata

import pytest

import counterfoil
import counterfoil.testing
from counterfoil.core.version import VERSION


@pytest.mark.parametrize("name", counterfoil.__all__)
def test_a_public_name_is_loaded_from_its_home(name: str) -> None:
    """public-names: Every exported name is there and is that of its own module."""
    value = getattr(counterfoil, name)
    assert value.__name__ == name
    assert getattr(importlib.import_module(value.__module__), name) is value
    assert value.__doc__


def test_the_public_names_are_listed_once_and_in_order() -> None:
    """public-names: `__all__` is sorted, and `dir` says the same."""
    assert counterfoil.__all__ == sorted(set(counterfoil.__all__))
    assert dir(counterfoil) == counterfoil.__all__
    assert all(hasattr(counterfoil.testing, name) for name in counterfoil.testing.__all__)


@pytest.mark.parametrize("name", ["Nothing", "wirings", "__nothing__", ""])
def test_an_unknown_name_is_an_attribute_error(name: str) -> None:
    """public-names: What is not exported says so as any module does."""
    with pytest.raises(AttributeError, match=f"'counterfoil' has no attribute {name!r}"):
        getattr(counterfoil, name)


def test_the_version_is_that_of_the_distribution() -> None:
    """public-names: The version stands in one place."""
    assert metadata.version("counterfoil") == VERSION


def test_importing_the_package_loads_no_part_of_it() -> None:
    """public-names: A name is loaded when it is asked for."""
    code = (
        "import sys, counterfoil; before = {m for m in sys.modules if m.startswith('counterfoil')};"
        "counterfoil.Intervals; print(sorted(before), 'counterfoil.core.intervals' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "['counterfoil'] True"
