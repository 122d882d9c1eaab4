"""Real deployments beside a reference: two versions of a library, two libraries, another language.

Each side is a program in an environment of its own (`benchmarks.field.environments`); a row is left
out where that cannot be made, as the port in C is without a compiler.
"""

import json
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..field.environments import ENVIRONMENTS, NotInstalled
from ..field.reported import diagnosis, reported
from ..field.rows import CALLS
from ..long_runs import KEPT, ROOT

HERE, FOLDER = Path(__file__).parent / "sides", KEPT / "same-as"
_COUNTS = ([[0, 3, 40]], [[100, 0, 7]])
_FLOATS = ([0.0, 3.0, 40.0], [100.0, 0.5, 7.0])
_VOTES = ([120, 100, 30], [90, 85, 75])
_ROWS = [[user, "ab"[user % 2], float(user % 10)] for user in range(400)]
_UNBOUNDED = "{}"
_BOUNDED = '{"lower": 0.0, "upper": 10.0}'
_WHITE = f"whitenoise_table.py value 0 {shlex.quote(_UNBOUNDED)}"
_WHITE_BOUNDED = f"whitenoise_table.py value 0 {shlex.quote(_BOUNDED)}"


@dataclass(frozen=True)
class Side:
    """A script of `benchmarks.field` with its words, in an environment; by hand where that is None.

    By hand: a file beside `sides`, a Python target, or source in C with its words.
    """

    environment: str | None
    script: str

    def spec(self) -> str:
        """The target. Raises NotInstalled."""
        name, *words = shlex.split(self.script)
        if self.environment is not None:
            environment = ENVIRONMENTS[self.environment]
            environment.make()
            script = CALLS / name
            return "exec:" + shlex.join([str(environment.python), str(script), *words])
        if not name.endswith(".c"):
            return f"{HERE.relative_to(ROOT)}/{name}"
        return "exec:" + shlex.join([str(_compiled(HERE / name)), *words])


def _compiled(source: Path) -> Path:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise NotInstalled("no compiler of C")
    FOLDER.mkdir(parents=True, exist_ok=True)
    program = FOLDER / source.stem
    words = [compiler, "-O2", "-Wall", "-Wextra", "-o", str(program), str(source), "-lm"]
    subprocess.run(words, check=True)
    return program


@dataclass(frozen=True)
class Real:
    """A target and its reference; expected: the verdict of a run that does what it should."""

    target: Side
    reference: Side
    values: tuple[Any, ...]
    expected: str = "pass"
    queries: int = 3_002


_OLD, _NEW = "opendp-0.14.1", "opendp-0.16.0"
_PYTHON = Side(None, "aggregator.py:aggregate")
_LAPLACE, _GAUSSIAN = "opendp_floats.py laplace 2", "opendp_floats.py gaussian 2"

REAL = {
    "opendp 0.16.0 for 0.14.1, Laplace": Real(Side(_NEW, _LAPLACE), Side(_OLD, _LAPLACE), _FLOATS),
    "opendp 0.16.0 for 0.14.1, Gaussian": Real(
        Side(_NEW, _GAUSSIAN), Side(_OLD, _GAUSSIAN), _FLOATS
    ),
    "opendp 0.16.0 for 0.14.1, Laplace of .8": Real(
        Side(_NEW, "opendp_floats.py laplace 1.6"), Side(_OLD, _LAPLACE), _FLOATS, expected="fail"
    ),
    "diffprivlib's Laplace for opendp's": Real(
        Side("diffprivlib-0.6.6", "diffprivlib_laplace.py"), Side(_NEW, _LAPLACE), _FLOATS
    ),
    "the aggregator in C": Real(Side(None, "aggregator.c 40"), _PYTHON, _VOTES),
    "the aggregator in C, half the noise": Real(
        Side(None, "aggregator.c 20"), _PYTHON, _VOTES, expected="fail"
    ),
    "SmartNoise 1.0.10 for 0.1.2, a column without bounds": Real(
        Side("smartnoise-sql-1.0.10", "smartnoise_table.py sum '{\"value\": {}}'"),
        Side("opendp-whitenoise-0.1.2", _WHITE),
        (_ROWS,),
        expected="inconclusive",  # 1.0.10 refuses such a column, which is no answer to compare
        queries=201,
    ),
    "SmartNoise 0.1.2, a column with bounds for one without": Real(
        Side("opendp-whitenoise-0.1.2", _WHITE_BOUNDED),
        Side("opendp-whitenoise-0.1.2", _WHITE),
        (_ROWS,),
        expected="fail",
        queries=201,
    ),
}
"""By name."""


def judged(name: str, seed: int) -> dict[str, Any]:
    """A row's report. Raises NotInstalled."""
    real = REAL[name]
    target, reference = real.target.spec(), real.reference.spec()
    FOLDER.mkdir(parents=True, exist_ok=True)
    claim = FOLDER / f"{list(REAL).index(name)}.toml"
    values = "".join(f"{json.dumps({'input': one})}\n" for one in real.values)
    rows = claim.with_suffix(".jsonl")
    rows.write_text(values)
    claim.write_text(
        f'[mechanism]\nname = "same-as"\nreference = {json.dumps(reference)}\n'
        f'[inputs]\nfile = "{rows.name}"\n'
        "[gate]\ntimeout = 300.0\n"  # some libraries take their time to start
    )
    words = ["dpassay", "verify", target, "--claim", str(claim), "--seed", str(seed)]
    return reported([*words, "--queries", str(real.queries)])


def real_rows(seed: int, only: str = "") -> Iterator[str]:
    """A row of each real pair, as it is judged."""
    for name, real in REAL.items():
        if only not in name:
            continue
        try:
            report = judged(name, seed)
        except NotInstalled as why:
            yield f"| {name} | left out: {why} | | |"
            continue
        failed = [check for check in report["checks"] if check["verdict"] == "fail"]
        said = "as expected" if report["verdict"] == real.expected else "not as expected"
        told = diagnosis(report, failed)
        yield f"| {name} | {report['verdict']}, {said} | {report['queries']:,} | {told} |"
