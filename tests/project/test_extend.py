"""Packages that add noise and targets: the examples of the pages, and what is refused."""

import json
import os
import re
import socketserver
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from added_packages import EXAMPLES, lay, lay_points, on_the_path
from claims import COARSE, gnmax, histogram, in_toml
from typed import assert_misuse, typed

from dpassay.reference import entry_points
from dpassay.reference.numbers import parse_number_noise
from dpassay.reference.numbers.families import FAMILIES
from dpassay.verifiers.targets import TargetError, open_target
from dpassay.verifiers.targets.spec import is_python, look_up

PAGE = EXAMPLES.parent / "extend.md"
FEW = ("--max-queries", "300", "--seed", "7")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    """A folder in which packages are found."""
    folder = tmp_path / "site"
    folder.mkdir()
    with on_the_path(folder):
        yield folder


@pytest.mark.parametrize("example", ["noise", "target"])
def test_an_example_is_short_and_stands_on_the_page(example: str) -> None:
    files = sorted((EXAMPLES / example).iterdir())
    assert sum(len(file.read_text().splitlines()) for file in files) <= 60
    for file in files:
        if file.suffix == ".py":
            assert f"```python\n{file.read_text()}```\n" in PAGE.read_text(), file
    project = tomllib.loads((EXAMPLES / example / "pyproject.toml").read_text())["project"]
    ((group, points),) = project["entry-points"].items()
    ((name, value),) = points.items()
    assert f"`{group}`" in PAGE.read_text()
    assert f"{name}:" in PAGE.read_text()
    assert f'{name} = "{value}"' in PAGE.read_text()


def claimed(folder: Path, noise: str) -> str:
    path = folder / "claim.toml"
    path.write_text(in_toml(mechanism=histogram(noise), gate=COARSE))
    return str(path)


def deployed(folder: Path, scale: float) -> None:
    (folder / "counts.py").write_text(
        "import numpy as np\nrng = np.random.default_rng(1)\n\n\ndef aggregate(counts, size):\n"
        f"    return counts + rng.logistic(0, {scale}, (size, len(counts)))\n"
    )


def verified(folder: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """What the page's command line does in a process, with what is installed in `site`."""
    (line,) = re.findall(r"^(dpassay verify counts.py.*)$", PAGE.read_text(), re.MULTILINE)
    words = [str(Path(sys.executable).parent / "dpassay"), *line.split()[1:], *FEW]
    paths = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        words,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.slow("over half a second")
def test_a_claim_names_its_noise_in_a_process(tmp_path: Path, site: Path) -> None:
    """Half of the noise is found, and named."""
    lay("noise", site)
    claimed(tmp_path, "logistic:2")
    deployed(tmp_path, 1.0)
    found = verified(tmp_path, site)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "noise-law [scale-too-small]" in found.stdout


@pytest.mark.slow("pip builds a wheel; in each run the metadata lies there as pip lays it")
@pytest.mark.parametrize("example", ["noise", "target"])
def test_pip_installs_an_example(tmp_path: Path, example: str) -> None:
    """And dpassay finds it there, by the metadata that pip writes."""
    site = tmp_path / "site"
    options = ("--no-deps", "--no-index", "--no-build-isolation", "--quiet", "--target", str(site))
    copied = tmp_path / "package"
    copied.mkdir()
    for file in (EXAMPLES / example).iterdir():
        (copied / file.name).write_bytes(file.read_bytes())
    pip = [sys.executable, "-m", "pip", "install", *options, str(copied)]
    subprocess.run(pip, check=True, timeout=300)
    if example == "noise":
        claimed(tmp_path, "logistic:2")
        deployed(tmp_path, 2.0)
        found = verified(tmp_path, site)
        assert found.returncode == 3, found.stdout + found.stderr
    else:
        with on_the_path(site), served(tmp_path / "answers.sock") as spec:
            assert len(open_target(spec, 5.0).ask(np.array([10, 0]), 4)) == 4


class Answers(socketserver.StreamRequestHandler):
    """Answers as the program of docs/how-to/program.md does; refuses a histogram without votes."""

    def handle(self) -> None:
        request = json.loads(self.rfile.readline())
        votes, is_asked = request.get("histogram", ()), request["call"] == "aggregate"
        reply: dict[str, object] = {"error": "no votes" if is_asked else "no such call"}
        if sum(votes) and is_asked:
            noise = np.random.default_rng().normal(0, 40, (request["size"], len(votes)))
            reply = {"labels": (np.array(votes) + noise).argmax(1).tolist()}
        self.wfile.write(json.dumps(reply).encode() + b"\n")


@contextmanager
def served(socket: Path) -> Iterator[str]:
    """A server at a Unix socket; gives the spec of the target."""
    with socketserver.ThreadingUnixStreamServer(str(socket), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"unix:{socket}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.slow("over half a second")
def test_a_target_by_a_scheme(tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole command, with a restart that the claim names."""
    lay("target", site)
    monkeypatch.chdir(tmp_path)
    claim = in_toml(mechanism=gnmax(), gate={"restart": "true", **COARSE})
    Path("claim.toml").write_text(claim)
    with served(tmp_path / "answers.sock") as spec:
        found = typed("verify", spec, "--claim", "claim.toml", *FEW)
    assert found.returncode == 3, found.stdout + found.stderr
    assert f"target: {spec}" in found.stdout
    assert not is_python(spec)  # by which `replay` and `init` know what they cannot look into
    ended = open_target(spec, 5.0)
    with pytest.raises(TargetError, match=r"^aggregate\(\[1, 0\], size=2\) got no reply: Connect"):
        ended.ask(np.array([1, 0]), 2)


def test_a_scheme_is_asked_as_any_other_target(tmp_path: Path, site: Path) -> None:
    lay("target", site)
    with served(tmp_path / "answers.sock") as spec:
        look_up(spec)
        target = open_target(spec, 5.0)
        assert len(target.ask(np.array([10, 0]), 4)) == 4
        assert target.no_restart is not None
        with pytest.raises(Exception, match="no votes"):
            target.ask(np.array([0, 0]), 4)
        target.close()
        with pytest.raises(TargetError, match="only http://host:port"):
            open_target(spec, 5.0, at_once=2)


NO_FAMILY = {
    "nothing": ("nowhere:Noise", "importing it raised ModuleNotFoundError: No module named"),
    "function": ("math:sqrt", "it is no subclass of dpassay.reference.numbers.Additive"),
    "half": ("wrong_noise:Half", "the class lacks enclosed_survival, exceeded, log_cdf"),
    "other": ("wrong_noise:Other", 'the class lacks family = "other", its name in claims'),
    "gaussian": ("wrong_noise:Other", "dpassay has its own gaussian: remove it"),
}


@pytest.mark.parametrize("name", NO_FAMILY)
def test_what_is_no_family_ends_in_a_line(name: str, tmp_path: Path, site: Path) -> None:
    """Which names the package and the entry point; of a name of ours whatever else is asked for."""
    value, said = NO_FAMILY[name]
    lay("noise", site)
    lay_points(site, "some-package", entry_points.NOISE, {name: value})
    (site / "wrong_noise.py").write_text(
        "from dpassay.reference.numbers.families import Additive, Laplace\n\n\n"
        "class Half(Additive):\n    family = 'half'\n\n\nclass Other(Laplace):\n    pass\n"
    )
    noise = "logistic:2" if name in FAMILIES else f"{name}:2"
    ended = typed("plan", "--claim", claimed(tmp_path, noise))
    assert_misuse(ended, f"some-package 1.0, entry point {name} = {value} in dpassay.noise", said)


def test_two_packages_of_one_name_are_refused(tmp_path: Path, site: Path) -> None:
    for package in ("one", "two"):
        lay_points(site, package, entry_points.NOISE, {"logistic": "math:pi"})
    with pytest.raises(ValueError, match=r"one 1\.0, .* two 1\.0, .*: expected one of that name"):
        parse_number_noise("logistic:2")


def test_an_unknown_family_is_told_of_those_that_are_installed(site: Path) -> None:
    lay("noise", site)
    with pytest.raises(ValueError, match=r"binomial, logistic \(did you mean logistic:2\?\)"):
        parse_number_noise("Logistic:2")


NO_TARGET = {
    "nothing": ("nowhere:Target", "importing it raised ModuleNotFoundError: No module named"),
    "less": ("math:sqrt", "opening it raised TypeError"),
    "none": ("builtins:str", "opening it raised TypeError"),
    "text": ("wrong_target:text", "what it opened is no target, it lacks ask, rdp, spent"),
    "exec": ("wrong_target:text", "dpassay has its own exec: remove it"),
}


@pytest.mark.parametrize("name", NO_TARGET)
def test_what_opens_no_target_ends_in_a_line(name: str, site: Path) -> None:
    value, said = NO_TARGET[name]
    lay_points(site, "some-package", entry_points.TARGETS, {name: value})
    (site / "wrong_target.py").write_text("def text(*arguments):\n    return ''\n")
    spec = "other:rest/x" if name == "exec" else f"{name}:rest/x"
    with pytest.raises(TargetError) as caught:
        open_target(spec, 5.0)
    assert f"some-package 1.0, entry point {name} = {value} in dpassay.targets" in str(caught.value)
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.slow("over half a second")
def test_a_module_that_is_there_stays_a_python_target(
    tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_points(site, "some-package", entry_points.TARGETS, {"answers": "nowhere:Target"})
    monkeypatch.chdir(tmp_path)
    Path("answers.py").write_text("def aggregate(histogram, size):\n    return [0] * size\n")
    target = open_target("answers:aggregate", 30.0)
    assert target.ask(np.array([1, 0]), 2).tolist() == [0, 0]
    target.close()


def test_names_of_our_own_do_not_read_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading it takes a tenth of a second, and more of a full environment."""

    def read(group: str) -> None:
        raise AssertionError(f"{group} was read")

    monkeypatch.setattr(entry_points, "_points", read)
    monkeypatch.chdir(tmp_path)
    assert typed("--help").returncode == 0
    for name in FAMILIES:
        parse_number_noise(f"{name}:2")
    Path("answers.py").write_text("")
    for spec in (
        "answers.py:aggregate",
        "answers:aggregate",
        "json:loads",
        "exec:true",
        "http://a",
    ):
        look_up(spec)
