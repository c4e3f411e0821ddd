"""How many examples Hypothesis tries: `dev` by default, `ci` where CI or the caller says so.

`soak` is for `make soak`, which has the time for it.
"""

import os

from hypothesis import settings

if "PYTEST_XDIST_WORKER" in os.environ:  # what tests start is not measured: it is slow
    os.environ.pop("COVERAGE_PROCESS_CONFIG", None)

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=200, deadline=None, derandomize=True)
settings.register_profile("soak", max_examples=2000, deadline=None)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") == "true" else "dev")
)
