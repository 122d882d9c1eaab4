"""The libraries of the field, each in a virtual environment of its own under .benchmarks/field."""

import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from ..long_runs import KEPT

FOLDER = KEPT / "field"
"""Where the environments are made; git leaves it out."""

_MADE = "made.txt"  # the requirements that an environment was made of, once it is whole


class NotInstalled(Exception):  # noqa: N818 - of the place the benchmark runs at, no fault of it
    """An environment that could not be made, with the installer's last line."""


@dataclass(frozen=True)
class Environment:
    """A library at a version, and what else its environment needs.

    name: of its folder; requirements: as pip takes them, pinned; large: made only when asked for,
    since it takes a gigabyte.
    """

    name: str
    requirements: tuple[str, ...]
    large: bool = False

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return FOLDER / self.name / "bin" / "python"

    @property
    def is_made(self) -> bool:
        """Whether it is whole, and made of these requirements."""
        made = FOLDER / self.name / _MADE
        return made.is_file() and made.read_text() == self._wanted

    @property
    def _wanted(self) -> str:
        return "".join(f"{each}\n" for each in self.requirements)

    def make(self) -> None:
        """Makes it where it is not yet made. Raises NotInstalled."""
        if self.is_made:
            return
        print(f"{self.name}: installing {', '.join(self.requirements)}", file=sys.stderr)
        folder = FOLDER / self.name
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        words = [str(self.python), "-m", "pip", "install", "--quiet", *self.requirements]
        if not self.requirements:
            words = [*words[:3], "--version"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
            raise NotInstalled(f"{self.name} could not be installed: {last}")
        (folder / _MADE).write_text(self._wanted)


_PRIVACYGUARD = (
    "--no-deps",  # most of them are for attacks on language models, and take gigabytes
    "privacyguard-platform==0.0.2",
    "numpy==2.4.6",
    "scipy==1.17.1",
    "pandas==2.3.3",
    "python-dateutil",
    "pytz",
    "six",
    "tzdata",
)
_WHITENOISE = (
    "--no-deps",  # of its own requirements some are not to be had any more
    "antlr4-python3-runtime==4.8",
    "numpy==2.4.6",
    "pandas==3.1.1",
    "pandasql==0.7.3",
    "protobuf==7.36.2",
    "PyYAML==6.0.4",
    "scipy==1.17.1",
    "SQLAlchemy==2.1.9",
    "statsmodels==0.15.0",
    "greenlet",
    "packaging",
    "patsy",
    "python-dateutil",
    "six",
    "typing-extensions",
)


ENVIRONMENTS = {
    each.name: each
    for each in (
        Environment("opendp-0.12.1", ("opendp[polars]==0.12.1",)),
        Environment("opendp-0.14.1", ("opendp[polars]==0.14.1",)),
        Environment("opendp-0.15.1", ("opendp[polars]==0.15.1",)),
        Environment("opendp-0.16.0", ("opendp[polars]==0.16.0",)),
        Environment("diffprivlib-0.6.6", ("diffprivlib==0.6.6", "scikit-learn<1.9")),
        Environment("pipeline-dp-0.2.1", ("pipeline-dp==0.2.1",)),
        Environment(
            "opendp-whitenoise-0.1.0.4",
            (*_WHITENOISE, "opendp-whitenoise==0.1.0.4", "opendp-whitenoise-core==0.1.3"),
        ),
        Environment(
            "opendp-whitenoise-0.1.2",
            (*_WHITENOISE, "opendp-whitenoise==0.1.2", "opendp-whitenoise-core==0.2.1"),
        ),
        Environment("pipeline-dp-0.3.1", ("pipeline-dp==0.3.1",)),
        Environment("pipeline-dp-beam-0.3.1", ("pipeline-dp==0.3.1", "apache-beam==2.77.0")),
        Environment("smartnoise-sql-1.0.10", ("smartnoise-sql==1.0.10",)),
        Environment("by-hand-0", ()),
        Environment("pandas-2.2.3", ("pandas==2.2.3",)),
        Environment("python-dp-1.1.5", ("python-dp==1.1.5",)),
        Environment("optax-0.2.8", ("optax==0.2.8", "jax==0.10.2")),
        Environment("flwr-1.41.0", ("flwr==1.41.0",)),
        Environment("phe-1.5.0", ("phe==1.5.0", "gmpy2==2.3.2", "numpy==2.4.6")),
        Environment("tenseal-0.3.18", ("tenseal==0.3.18", "numpy==2.4.6")),
        Environment("jax-privacy-2.0.0", ("jax-privacy==2.0.0",)),
        Environment("opacus-1.5.2", ("opacus==1.5.2", "torch==2.13.0"), large=True),
        Environment("opacus-1.6.0", ("opacus==1.6.0", "torch==2.13.0"), large=True),
        Environment("privacyguard-0.0.2", _PRIVACYGUARD),
        Environment("tmlt-core-0.20.0", ("tmlt.core==0.20.0",), large=True),
        Environment("tmlt-analytics-0.21.0", ("tmlt.analytics==0.21.0",), large=True),
    )
}
"""By name: library, then version."""
