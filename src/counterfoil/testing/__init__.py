"""What a stranger proves an adapter with: conformance suites, and samples to feed it."""

from counterfoil.testing import conformance, samples

__all__ = ["conformance", "samples"]
