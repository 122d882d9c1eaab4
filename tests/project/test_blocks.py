"""Every command line and code block of README, tutorial and how-to is run by a test.

Or it stands in `NOT_RUN` with its reason, or in `READ_ALONE`. Each command line is read
as a command reads it besides.
"""

import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from typed import typed

from dpassay.verifiers.cli import COMMANDS, command

ROOT = Path(__file__).parents[2]
PAGES = ["README.md"] + [
    str(page.relative_to(ROOT))
    for folder in ("tutorial", "how-to")
    for page in sorted((ROOT / "docs" / folder).glob("*.md"))
]
FEW = {"verify": ("--max-queries", "60")}
"""Options that make a run short; what is too short for a verdict is inconclusive."""

PROGRAMS = re.compile(
    r"(dpassay|pip|python3?|make|export|mkdir|cd|echo|uvicorn|docker|pytest|rm)\b"
)
"""What a block of command lines begins with; other blocks without a language show output."""


@dataclass(frozen=True)
class Item:
    """A command line, or a code block; text: all of it, a line as it is typed."""

    page: str
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}: {self.text.strip().splitlines()[0][:90]}"


def items(page: str) -> Iterator[Item]:
    """The command lines and code blocks of a page; of claims `test_claims_parse` reads all."""
    for language, text in re.findall(
        r"^```(\w*)\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE
    ):
        if language in ("", "bash") and PROGRAMS.match(text):
            for line in text.replace("\\\n", " ").splitlines():
                yield Item(page, "", re.sub(r"\s+#.*", "", line))
        elif language not in ("", "text", "toml"):
            yield Item(page, language, text)


ITEMS = [item for page in PAGES for item in items(page)]


@dataclass(frozen=True)
class Session:
    """The command lines of a page that are typed in one folder, by how they begin.

    Each ends with one of these statuses, a run of few queries with 3. Beside aggregator.py and
    claim.toml of README there are the page's own files.

    page: within the folder of pages; files: name -> words of the block that it holds; rows: name
    -> text of what the page tells of and does not show.
    """

    page: str
    lines: dict[str, tuple[int, ...]]
    files: dict[str, str] = field(default_factory=dict)
    rows: dict[str, str] = field(default_factory=dict)

    def typed_lines(self) -> dict[Item, tuple[int, ...]]:
        """The items of these lines, with the statuses."""
        return {self._one(start, ""): statuses for start, statuses in self.lines.items()}

    def _one(self, words: str, language: str) -> Item:
        found = [
            item
            for item in ITEMS
            if item.page == self.page
            and words in item.text
            and (item.language == "") == (not language)
        ]
        assert found, (self.page, words)
        return found[0]

    def code(self) -> list[Item]:
        """The blocks of code that its files hold."""
        of_code = {name: words for name, words in self.files.items() if name.endswith(".py")}
        return [self._one(words, "python") for words in of_code.values()]

    def lay(self) -> None:
        """Writes the files into the working directory."""
        readme = (ROOT / "README.md").read_text()
        for name, words in {"aggregator.py": "def aggregate", "claim.toml": "[mechanism]"}.items():
            Path(name).write_text(block_with(words, readme))
        page = (ROOT / self.page).read_text()
        for name, words in self.files.items():
            Path(name).write_text(block_with(words, page))
        for name, text in self.rows.items():
            Path(name).write_text(text)


def block_with(words: str, page: str) -> str:
    """The first block of a page with these words."""
    found: list[str] = re.findall(r"^```\w+\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    return next(text for text in found if words in text)


LOG = "".join(
    ["0,1,2,3,4,5,6,7,8,9,label\n", *[f"100,90,60,0,0,0,0,0,0,0,{i % 3}\n" for i in range(90)]]
)
HISTOGRAMS = "200,30,20,0,0,0,0,0,0,0\n125,120,5,0,0,0,0,0,0,0\n"
VERIFY = "dpassay verify"
HOW_TO = "docs/how-to"

SESSIONS = [
    Session(
        "docs/tutorial/claim.md", {"dpassay account": (0,)}, rows={"any.csv": "25," * 9 + "25\n"}
    ),
    Session("docs/tutorial/index.md", {"dpassay probabilities": (0,)}),
    Session(
        f"{HOW_TO}/tallies.md",
        {VERIFY: (3,)},
        {"votes.py": "def rounds", "votes.toml": "secure-tally"},
    ),
    Session(
        f"{HOW_TO}/samplers.md",
        {VERIFY: (3,)},
        {"training.py": "next_batch", "batches.toml": '"batches"'},
    ),
    Session(
        f"{HOW_TO}/without-a-law.md",
        {VERIFY: (3,), "dpassay audit": (0, 3)},
        {"service.py": "def release", "any.toml": '"any"', "predictor.py": "def unmasked"},
    ),
    Session(
        f"{HOW_TO}/same-as.md",
        {VERIFY: (3,)},
        {"old.py": "laplace(0.0, 2.0)", "new.py": "expovariate", "same.toml": '"same-as"'},
    ),
    Session(f"{HOW_TO}/exposure.md", {"exposure model.py:bits": (0,)}, {"model.py": "def bits"}),
    Session("docs/tutorial/claim.md", {VERIFY: (3,), "--report report": (3,)}),
    Session(f"{HOW_TO}/ci.md", {f"{VERIFY} ": (3,)}),
    Session(f"{HOW_TO}/ledger.md", {"nightly.jsonl": (3,), "--build 1.4.2": (3,)}),
    Session(f"{HOW_TO}/program.md", {VERIFY: (3,)}, {"child.py": "def label"}),
    Session(f"{HOW_TO}/reproduce.md", {VERIFY: (3,)}),
    Session(
        f"{HOW_TO}/compare.md",
        {"--report monday": (3,), "--report tuesday": (3,), "dpassay compare monday": (0,)},
    ),
    Session(
        f"{HOW_TO}/nightly.md",
        {
            "--ledger nightly.jsonl": (3,),
            "dpassay compare nightly.jsonl": (0,),
            "--report release": (3,),
            "dpassay compare night release": (0,),
            "dpassay compare nightly.jsonl release": (0,),
        },
    ),
    Session(f"{HOW_TO}/own-histograms.md", {VERIFY: (3,)}, rows={"histograms.csv": HISTOGRAMS}),
]

READ_ALONE = [
    Session(f"{HOW_TO}/some-checks.md", {"--check noise-scale": (3,), "--skip": (3,)}),
    Session(
        f"{HOW_TO}/small-budgets.md",
        {
            "plan --claim claim.toml --queries": (0, 3),
            "--seconds 600": (0, 3),
            f"{VERIFY} aggregator.py:aggregate --claim claim.toml --queries": (0, 3),
        },
    ),
    Session(f"{HOW_TO}/log.md", {VERIFY: (1, 3)}, rows={"releases.csv": LOG}),
    Session(
        f"{HOW_TO}/budgets.md",
        {VERIFY: (3,)},
        {
            "deployment.py": "class Limited",
            "limited.py": "from deployment",
            "budget.toml": "epsilon = 1.97",
        },
    ),
    Session(
        f"{HOW_TO}/tables.md", {VERIFY: (3,)}, {"engine.py": "groupby", "engine.toml": '"table"'}
    ),
    Session(
        f"{HOW_TO}/workers.md",
        {"account histograms.csv": (0,), "--log": (1, 3)},
        rows={"histograms.csv": HISTOGRAMS, "releases.csv": LOG},
    ),
]
"""Whose lines are read, and not typed yet: add one to `SESSIONS` once it was seen to run."""

BY_OTHERS = {
    "README.md": "project/test_readme.py",
    "docs/tutorial/mend.md": "project/test_docs.py",
    "docs/tutorial/numbers.md": "project/test_numbers_docs.py",
    "docs/tutorial/queries.md": "project/test_queries_tutorial.py",
    "docs/tutorial/tables.md": "project/test_tables_tutorial.py",
    f"{HOW_TO}/extend.md": "project/test_extend.py",
    f"{HOW_TO}/gradients.md": "project/test_numbers_docs.py",
    f"{HOW_TO}/numbers.md": "project/test_numbers_docs.py",
    f"{HOW_TO}/probabilities.md": "project/test_readme.py",
    f"{HOW_TO}/sql.md": "kinds/test_sql_tables.py",
}
"""Pages whose other blocks another test runs, and where; all but their lines in `NOT_RUN`."""

NOT_RUN = {
    ("README.md", "python3 -m venv"): "an environment is made by what guards main",
    ("README.md", "pip install ."): "what guards main installs the wheel",
    ("docs/tutorial/index.md", "make verify"): "makes an environment",
    ("docs/tutorial/index.md", "export PATH"): "of a shell",
    ("docs/tutorial/index.md", "mkdir ../"): "of a shell",
    ("docs/tutorial/index.md", "cd ../"): "of a shell",
    ("docs/tutorial/index.md", f"{VERIFY} aggregator.py"): "test_docs.py runs it as a function",
    ("docs/tutorial/index.md", "def aggregate"): "test_docs.py runs it",
    ("docs/tutorial/claim.md", "echo 25"): "of a shell; the file is laid",
    ("docs/tutorial/claim.md", "pip wheel"): "what guards main builds the wheel",
    ("docs/tutorial/claim.md", "runs-on:"): "GitHub runs it; its command stands above",
    ("docs/tutorial/queries.md", "pip install"): "needs a registry",
    (f"{HOW_TO}/accountants.md", "def rdp"): "a method alone; test_the_charge_of_the_page runs it",
    (f"{HOW_TO}/budgets.md", "rm -f"): "of a shell",
    (f"{HOW_TO}/init.md", "dpassay init"): "test_init_command.py begins such a claim",
    (f"{HOW_TO}/init.md", "export"): "of a shell; test_init_command.py sets it",
    (f"{HOW_TO}/init-objects.md", "dpassay init"): "test_objects.py begins such claims",
    (
        f"{HOW_TO}/init-objects.md",
        "dpassay verify",
    ): "test_objects.py runs one; opacus takes PyTorch",
    (f"{HOW_TO}/init-objects.md", "diffprivlib"): "needs diffprivlib; test_objects.py",
    (f"{HOW_TO}/init-objects.md", "audited"): "needs PipelineDP; test_objects.py",
    (f"{HOW_TO}/paths.md", "dpassay verify"): "test_steered_runs.py runs such targets",
    (f"{HOW_TO}/coverage.md", "dpassay verify"): "test_coverage_file.py runs such targets",
    (f"{HOW_TO}/pre-commit.md", "# .pre-commit"): "pre-commit reads it; test_hook.py has the ids",
    (f"{HOW_TO}/pre-commit.md", "      - id: dpassay-claims"): "pre-commit reads it",
    (f"{HOW_TO}/chain.md", "dpassay chain"): "trains 250 teachers; test_chain.py runs smaller ones",
    (f"{HOW_TO}/ci.md", "jobs:"): "GitHub runs it; test_action.py runs the Action's steps",
    (f"{HOW_TO}/ci.md", "- uses: your-organ"): "GitHub runs it; test_action.py has its inputs",
    (f"{HOW_TO}/ci.md", "if: always()"): "GitHub runs it; test_action.py has its step",
    (f"{HOW_TO}/ci.md", "image:"): "GitLab runs it",
    (f"{HOW_TO}/nightly.md", "on:"): "GitHub runs it; test_ci_files.py has its schema",
    (f"{HOW_TO}/nightly.md", ".dpassay:"): "GitLab runs it; test_ci_files.py runs its script",
    (f"{HOW_TO}/compare.md", "compare nightly.jsonl"): "run as a line of nightly.md",
    (f"{HOW_TO}/container.md", "docker"): "needs Docker",
    (f"{HOW_TO}/exposure.md", "--demo --extract"): "needs torch; test_exposure.py runs it smaller",
    (f"{HOW_TO}/exposure.md", "import Template"): "test_the_lines_on_exposure_run has it",
    (f"{HOW_TO}/extend.md", "pip install ."): "test_extend.py installs it elsewhere",
    (f"{HOW_TO}/http.md", VERIFY): "needs a server; tests/targets have many",
    (f"{HOW_TO}/instahide.md", "dpassay instahide"): "takes minutes, or photographs",
    (f"{HOW_TO}/jax-privacy.md", "jax"): "needs jax-privacy, and minutes",
    (f"{HOW_TO}/opacus.md", "opacus"): "needs opacus, and minutes",
    (f"{HOW_TO}/laws.md", "COMPOSITION"): "test_the_laws_of_the_page_hold runs it",
    (f"{HOW_TO}/monitor.md", "dpassay monitor"): "runs until it is stopped; tests/logs have many",
    (f"{HOW_TO}/pytest.md", "pytest"): "tests/strategies and the plugin's own tests run pytest",
    (f"{HOW_TO}/pytest.md", "assert_conforms"): "a whole pass; the plugin's own tests have it",
    (f"{HOW_TO}/replay.md", "dpassay replay"): "of a file that the page does not show",
    (f"{HOW_TO}/replay.md", "dpassay_replay"): "of a file that the page does not show",
    (f"{HOW_TO}/report.md", "jq"): "needs jq",
    (f"{HOW_TO}/repository.md", "repository/folder"): "needs somebody's repository",
    (
        f"{HOW_TO}/small-budgets.md",
        "engine.py",
    ): "of a guide that test_blocks runs with few releases",
    (
        f"{HOW_TO}/tallies.md",
        '"revealed"',
    ): "an answer, which test_tallies.py reads in other numbers",
    (f"{HOW_TO}/workers.md", "reconstruct"): "four processes; tests/commands run two",
    (f"{HOW_TO}/workers.md", "--dask"): "needs a cluster",
    (f"{HOW_TO}/workers.md", "open_executor"): "four processes; 10^8 experiments",
}
"""Page and words -> why no test runs it."""


def not_run(item: Item) -> list[tuple[str, str]]:
    return [key for key in NOT_RUN if item.page == key[0] and key[1] in item.text]


def test_every_block_is_run_or_says_why_not() -> None:
    """Catches a block that was added and is run by nobody."""
    known = [*SESSIONS, *READ_ALONE]
    run = {item for session in known for item in [*session.typed_lines(), *session.code()]}
    left = [str(i) for i in ITEMS if i not in run and i.page not in BY_OTHERS and not not_run(i)]
    assert left == []


def test_reasons_and_tests_are_of_what_is_there() -> None:
    used = {key for item in ITEMS for key in not_run(item)}
    assert NOT_RUN.keys() - used == set()
    for page, test in BY_OTHERS.items():
        assert Path(page).name in (ROOT / "tests" / test).read_text(), page


def command_lines(page: str) -> Iterator[str]:
    """Each line of dpassay in the blocks of a page, up to a pipe or a redirection."""
    for item in ITEMS:
        if item.page == page and item.text.startswith("dpassay ") and not item.language:
            yield re.split(r"\s[|>&]\s", item.text)[0].strip()


@pytest.mark.parametrize("page", PAGES)
def test_command_lines_are_read(page: str, tmp_path, monkeypatch) -> None:
    """Catches an option that is gone, a value that is not allowed, and a command of another name.

    Files that a line names are there, and empty.
    """
    monkeypatch.chdir(tmp_path)
    for line in command_lines(page):
        _, name, *arguments = shlex.split(line)
        assert name in COMMANDS, line
        for word in arguments:
            if re.fullmatch(r"[\w-]+\.(csv|jsonl|txt|toml|json)", word):
                Path(word).touch()
        for folder in ("photographs", "report", "monday", "night"):
            Path(folder).mkdir(exist_ok=True)
        try:
            with suppress(click.exceptions.Exit):  # an option that is done once it is read
                command(name).make_context(name, arguments)
        except click.UsageError as error:
            raise AssertionError(f"{line}: {error.format_message()}") from None


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.page)
def test_command_lines_run(session: Session, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    session.lay()
    for item, statuses in session.typed_lines().items():
        _, *words = shlex.split(item.text.partition(">")[0])
        found = typed(*words, *FEW.get(words[0], ()))
        assert found.returncode in statuses, f"{item}\n{found.stdout}{found.stderr}"


def test_the_charge_of_the_page() -> None:
    """An answer costs what it says beside the screening."""
    space: dict[str, Any] = {}
    exec(block_with("def rdp", (ROOT / HOW_TO / "accountants.md").read_text()), space)
    orders = np.array([2.0])
    screening, both = (space["rdp"](None, None, orders, of) for of in (False, True))
    assert both - screening == pytest.approx(2.0 / 1600)


@pytest.mark.slow("over half a second")
def test_the_lines_on_exposure_run(tmp_path, monkeypatch) -> None:
    page = (ROOT / HOW_TO / "exposure.md").read_text()
    (tmp_path / "model.py").write_text(block_with("def bits", page))
    monkeypatch.syspath_prepend(tmp_path)
    exec(block_with("import Template", page), {})


@pytest.mark.slow("over half a second")
def test_the_laws_of_the_page_hold() -> None:
    space: dict[str, Any] = {}
    exec(block_with("COMPOSITION", (ROOT / HOW_TO / "laws.md").read_text()), space)
    tests = [value for name, value in space.items() if name.startswith("test_")]
    assert len(tests) == 3
    for test in tests:
        test()
