"""How many tests run at a time, and how hypothesis looks for cases."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# CI must fail for what was changed and for nothing else; at home each run tries other cases. An example may take
# longer on a busy machine.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are processors: a third of the tests wait for a terminal."""
    return (os.cpu_count() or 1) + 1
