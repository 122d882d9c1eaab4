"""Public code bases at the commits that are judged, and how their files come here.

Files are kept under .benchmarks/field_pate, which git leaves out; wrappers import them from there.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ..long_runs import KEPT

FOLDER = KEPT / "field_pate"
"""Where the files are kept, and clones of what was not at hand."""

_CLONES = FOLDER / "clones"


class NotThere(Exception):  # noqa: N818 - of the place the benchmark runs at, no fault of it
    """A code base that is not at hand and could not be had, with git's last line."""


@dataclass(frozen=True)
class CodeBase:
    """A repository at a commit.

    name: OWNER/NAME on GitHub; commit: in full; files: that the wrappers import.
    """

    name: str
    commit: str
    files: tuple[str, ...]

    @property
    def shown(self) -> str:
        """Its name and commit, as the page shows them."""
        return f"{self.name} {self.commit[:7]}"

    @property
    def _plain(self) -> str:
        return self.name.replace("/", "+")

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return FOLDER / f"{self._plain}@{self.commit[:7]}"

    def make(self, code: Path | None) -> None:
        """Takes its files out of a repository in `code`, or without that of a clone.

        Nothing is done where they are there. Raises NotThere.
        """
        left = [file for file in self.files if not (self.folder / file).is_file()]
        repository = self._repository(code) if left else FOLDER
        for file in left:
            text = _git("-C", str(repository), "show", f"{self.commit}:{file}")
            path = self.folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)

    def _repository(self, code: Path | None) -> Path:
        if code is None:
            return self._cloned()
        for folder in (code / self._plain / "repo", code / self._plain):
            if any((folder / head).exists() for head in ("HEAD", ".git")):
                return folder
        raise NotThere(f"{self.shown}: no repository {self._plain} among the code that was given")

    def _cloned(self) -> Path:
        folder = _CLONES / self._plain
        if not folder.is_dir():
            url = f"https://github.com/{self.name}"
            print(f"{self.shown}: cloning {url}", file=sys.stderr)
            _git("clone", "--quiet", "--bare", "--filter=blob:none", url, str(folder))
        return folder


def _git(*words: str) -> bytes:
    """What git says. Raises NotThere."""
    done = subprocess.run(["git", *words], capture_output=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["git failed"])[-1]
        raise NotThere(last)
    return done.stdout


CODE_BASES = {
    each.name: each
    for each in (
        CodeBase(
            "tensorflow/privacy",
            "03035d5d4a271ac795dab80f5bc1cef82fc3d462",
            (
                "research/pate_2017/aggregation.py",
                "research/pate_2017/analysis.py",
                "research/pate_2018/core.py",
            ),
        ),
        CodeBase(
            "OpenMined/PySyft",
            "88c2606b36244923c214ee40be069f896bf6342a",
            ("syft/frameworks/torch/dp/pate.py",),
        ),
        CodeBase(
            "cleverhans-lab/PrivatePrompts",
            "d94cc7272088fcc8e915c947b5f15dee44959b19",
            ("PromptPATE/pate/pate_utils.py", "PromptPATE/pate/privacy_utils.py"),
        ),
        CodeBase(
            "cleverhans-lab/capc-iclr",
            "3024d6ae3b2e397692cf1784d86c30846a02221c",
            ("csp.py", "learning/analysis/pate.py"),
        ),
        CodeBase(
            "fraboeni/individualized-pate",
            "ee82793c26bf8e98f6f7c25197b4b7188b90e200",
            ("per_point_pate/privacy/core.py", "per_point_pate/privacy/pate.py"),
        ),
        CodeBase(
            "jeremy43/Private_kNN",
            "547a1abc0ec2daa5e069134687e15ad76dd0b408",
            ("digit_pytorch/aggregation.py",),
        ),
        CodeBase(
            "vanderschaarlab/mlforhealthlabpub",
            "75beead341138094f89c1315ec3d722030d047cb",
            ("alg/pategan/pate_gan.py",),
        ),
        CodeBase(
            "vanderschaarlab/synthcity",
            "23f322fe381326ed01c41b13d469a06e38cce545",
            ("src/synthcity/plugins/privacy/plugin_pategan.py",),
        ),
        CodeBase(
            "dmachooka/PATE-mlp",
            "22835606aefe14ff6718a71cd1b3ca6d30a02ae8",
            ("PATE_analysispytorch_BotNeTIoT.ipynb",),
        ),
        CodeBase(
            "kamathhrishi/PATE",
            "92b004759af92b1d8d2d4a36536d387f49cbdaa5",
            ("Teacher.py",),
        ),
        CodeBase(
            "Doran-Penner/diffpriv24",
            "2ad6d4e20df832497ac5f2ba2ff4973ead87df27",
            ("aggregate.py", "privacy_accounting.py", "helper.py"),
        ),
        CodeBase(
            "yuxiangw/autodp",
            "06489ea485653909397937cf5e3c31d06a677ffe",
            ("autodp/rdp_bank.py", "autodp/utils.py"),
        ),
    )
}
"""By name."""
