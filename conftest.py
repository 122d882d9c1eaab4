"""Settings of the whole suite: the installed package is tested, never the folders beside it."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = "pytester"

settings.register_profile(
    "suite",
    derandomize=True,  # the same examples on every run: the suite never flakes
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    """Assaying a target from this folder selects the gate alone, unless paths or marks are given.

    Elsewhere the options take nothing away; here the rest is the suite of dpassay itself.
    """
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    if config.getoption("dpassay_claim", None) and not named and not config.option.markexpr:
        config.option.markexpr = "dpassay"


@pytest.fixture(scope="session")
def published_data() -> Path:
    """Folder of the data published with Wang et al. 2022; skips where it is absent."""
    folder = Path(os.environ.get("DPASSAY_DATA", Path(__file__).parent.parent / "shared" / "data"))
    if not (folder / "wang2022_histograms.csv").is_file():
        pytest.skip("published data absent: set DPASSAY_DATA to its folder")
    return folder
