"""How many tests run at a time and which first, what their processes keep, and how hypothesis looks for cases."""

from __future__ import annotations

import fcntl
import gc
import os
import sys
from collections.abc import Generator

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]  # it has no types

# CI must fail for what was changed and for nothing else; at home each run tries other cases. An example may take
# longer on a busy machine.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# Without compiled modules each worker rewrites a hundred test modules (8 s), and each of the hundreds of programs that
# the tests start compiles what it imports (0.25 s).
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# What waits longest, or is one long piece: begun last, one worker would end alone with it.
SLOW = ("test_lowest", "test_fences", "test_tmux", "test_wire", "test_matrix", "test_setup", "test_costs", "test_input")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """More than there are processors: half of a test's time it waits for a terminal, a timer or a program."""
    processors = os.cpu_count() or 1
    return min(3 * processors, processors + 4)


# What its tests share is dear, or is built in the checkout: one worker has them all.
TOGETHER = ("tests/test_lowest.py", "tests/test_packaging.py")


class Grouped(LoadScopeScheduling):  # type: ignore[misc]
    """Test by test, but those of a module in `TOGETHER`: pytest 9.2 does not let xdist 3.8 find its group marks."""

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.partition("::")[0]
        return module if module in TOGETHER else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Grouped | None:
    return Grouped(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The first worker at a module that nobody has compiled yet does it, and the others find it done."""
    if not isinstance(collector, pytest.Module):
        return (yield)
    with collector.path.open() as module:
        fcntl.flock(module, fcntl.LOCK_EX)
        return (yield)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slow modules first, in that order."""
    places = {name: place for place, name in enumerate(SLOW)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


def pytest_collection_finish() -> None:
    """The collector need not go through 4,000 tests again and again, nor look as often: a quarter of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
