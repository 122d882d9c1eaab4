"""Settings of the whole suite: the installed package is tested, never the folders beside it."""

import gc
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = "pytester"

settings.register_profile(
    "suite",
    derandomize=True,  # the same examples on every run, but for properties that hold exactly
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("quick", settings.get_profile("suite"), max_examples=20)
settings.load_profile("suite")  # `make test` asks for `quick`


def pytest_configure(config: pytest.Config) -> None:
    """Assaying a target from this folder selects the gate alone, unless paths or marks are given.

    Elsewhere the options take nothing away; here the rest is the suite of dpassay itself.
    """
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    if config.getoption("dpassay_claim", None) and not named and not config.option.markexpr:
        config.option.markexpr = "dpassay"


@pytest.hookimpl(tryfirst=True)  # before `-m` deselects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test marked `quick_cases(n)` all but the first n cases are slow."""
    seen: Counter[str] = Counter()
    for item in items:
        marker = item.get_closest_marker("quick_cases")
        if marker is None or item.get_closest_marker("slow") is not None:
            continue
        test = item.nodeid.partition("[")[0]
        seen[test] += 1
        if seen[test] > marker.args[0]:
            item.add_marker(pytest.mark.slow("more cases of a test that has some in this suite"))


def pytest_collection_finish() -> None:
    """What is imported by now stays: the collector need not walk through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.fixture(scope="session")
def published_data() -> Path:
    """Folder of the data published with Wang et al. 2022; skips where it is absent."""
    folder = Path(os.environ.get("DPASSAY_DATA", Path(__file__).parent.parent / "shared" / "data"))
    if not (folder / "wang2022_histograms.csv").is_file():
        pytest.skip("published data absent: set DPASSAY_DATA to its folder")
    return folder


LEFT: Counter[tuple[str, str]] = Counter()
"""Tests marked slow that were deselected, by file and reason."""


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Notes what a quick run leaves out. Under xdist this happens in the workers alone."""
    for item in items:
        if (marker := item.get_closest_marker("slow")) is not None:
            LEFT[item.path.name, marker.args[0]] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker tells the session; the key is one of ours, the values are what xdist can send."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left"] = [[*key, count] for key, count in LEFT.items()]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker collects all tests, so that they say the same."""
    for file, why, count in getattr(node, "workeroutput", {}).get("left", []):
        LEFT[file, why] = count


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Nothing is left out in silence."""
    if LEFT:
        terminalreporter.section(f"{sum(LEFT.values())} slow tests left to `make test-all`")
        for (file, why), count in sorted(LEFT.items()):
            terminalreporter.write_line(f"{count:4} {file}: {why}")
