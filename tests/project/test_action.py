"""The GitHub Action: its steps are run as the runner would, with its files and commands faked."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import textwrap
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pytest
from claims import gnmax, in_toml
from small import small_claim

from dpassay.verifiers.ledger.ledger import open_ledger

ROOT = Path(__file__).parents[2]
ACTION = (ROOT / "action.yml").read_text()

CLAIM = in_toml(mechanism=gnmax())
HOSTILE = "50% ::error::gone|<b>`x`</b>"
TARGETS = f"""
import os
import numpy as np
rng = np.random.default_rng()

def half_noise(histogram, size):
    return (histogram + rng.normal(0, 20, (size, len(histogram)))).argmax(1)

def raises(histogram, size):
    with open(f"/proc/{{os.getppid()}}/fd/1", "w") as log:
        log.write("::add-mask::a\\n")
    raise RuntimeError({HOSTILE!r})
"""


def blocks(text, indent):
    """The items of a YAML list at `indent`."""
    return re.split(rf"^ {{{indent}}}- ", text, flags=re.MULTILINE)[1:]


def parsed(step):
    """Name, condition, variables and script of a step: as much of YAML as action.yml uses."""

    def value(key):
        found = re.search(rf"^ *{key}: (.*)$", step, re.MULTILINE)
        return found and found[1]

    script = re.search(r"^ +run: \|\n((?: {8}.*\n?)+)", step, re.MULTILINE)
    given = re.search(r"^ +(?:env|with):\n((?: {8}.*\n)+)", step, re.MULTILINE)
    pairs = re.findall(r"^ {8}([\w-]+): (.*)$", given[1], re.MULTILINE) if given else []
    lines = script and "\n".join(line[8:] for line in script[1].splitlines())
    return SimpleNamespace(
        name=value("name"), uses=value("uses"), condition=value("if"), given=dict(pairs), run=lines
    )


STEPS = [parsed(step) for step in blocks(ACTION.split("  steps:\n")[1], 4)]
DEFAULTS = dict(re.findall(r"^  ([\w-]+):\n    desc.*\n    default: (.*)$", ACTION, re.MULTILINE))


@pytest.fixture
def runner(tmp_path):
    """Runs every step that has a script, or only one; `pip install` is only recorded."""
    (tmp_path / "bin").mkdir()
    shim = tmp_path / "bin" / "python"
    shim.write_text(
        '#!/bin/bash\nif [ "$1 $2 $3" = "-m pip install" ]; then\n'
        f'  printf "%s\\n" "${{@:4}}" > "{tmp_path}/installed"; exit 0\nfi\n'
        f'exec "{sys.executable}" "$@"\n'
    )
    shim.chmod(0o755)
    (tmp_path / "claim.toml").write_text(CLAIM)
    path = [str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    own = {"PATH": os.pathsep.join(path), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    own["GITHUB_OUTPUT"] = str(tmp_path / "output")

    def run(only=None, adds=None, **inputs):
        inputs = {name: value.strip('"') for name, value in DEFAULTS.items()} | inputs
        known = {f"${{{{ inputs.{name} }}}}": value for name, value in inputs.items()}
        known["${{ github.action_path }}"] = str(ROOT)
        known["${{ steps.ledger.outputs.adds }}"] = adds or ""
        done = {}
        for step in STEPS:
            with_ledger = step.name != "Find the ledger" or inputs["ledger"]
            if step.run is not None and with_ledger and only in (None, step.name):
                given = {k: known.get(v, v.strip('"')) for k, v in step.given.items()}
                done[step.name] = subprocess.run(
                    ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.run],
                    cwd=tmp_path,
                    env=os.environ | own | given,
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=300,
                )
        return done

    return run


def commands(step):
    """What the runner obeys of a step's output: lines that begin with `::`, unless stopped."""
    obeyed, token = [], None
    for line in (step.stdout + "\n" + step.stderr).splitlines():
        text = line.strip()
        if token is not None:
            token = None if text == f"::{token}::" else token
        elif text.startswith("::stop-commands::"):
            token = text.removeprefix("::stop-commands::")
        elif text.startswith("::"):
            obeyed.append(text)
    assert token is None, "commands stay stopped"
    return obeyed


def test_inputs_are_declared_and_never_pasted_into_a_script() -> None:
    inputs = ACTION.split("\ninputs:")[1].split("\noutputs:")[0]
    declared = set(re.findall(r"^  (\w[\w-]*):$", inputs, re.MULTILINE))
    used = set(re.findall(r"inputs\.([\w-]+)", ACTION))
    assert used == declared
    wanted = {"requirements", "python-version", "artifact-name", "target", "claim", "report"}
    limits = {"queries", "max-seconds"}
    files = {"log", "profile", "sarif", "coverage", "ledger", "ledger-artifact", "build"}
    assert declared == wanted | limits | files
    for step in STEPS:
        assert step.run is None or "${{" not in step.run


def test_the_python_that_is_there_is_kept_unless_another_is_asked_for() -> None:
    """setup-python would hide what the steps before installed."""
    (setup,) = (step for step in STEPS if step.uses and "setup-python" in step.uses)
    assert setup.condition == "inputs.python-version != ''"
    assert DEFAULTS["python-version"] == '""'


def test_the_jobs_of_a_matrix_can_name_their_artifacts() -> None:
    report, ledger = (step for step in STEPS if step.uses and "upload-artifact" in step.uses)
    assert report.given["name"] == "${{ inputs.artifact-name }}"
    assert ledger.given["name"] == "${{ inputs.ledger-artifact }}"
    assert all(step.condition.startswith("always()") for step in (report, ledger))


def test_a_ledger_is_brought_before_the_run_and_kept_after_it_whatever_came_of_it() -> None:
    """Only by a run that adds: catches one that a fork's pull request would leave behind."""
    names = [step.name for step in STEPS]
    find, bring, verify, keep = (
        names.index(name)
        for name in ("Find the ledger", "Bring the ledger", "Verify", "Keep the ledger")
    )
    assert find < bring < verify < keep
    assert STEPS[keep].condition == "always() && steps.summary.outputs.keep == 'true'"
    text = ACTION.split("- name: Keep the ledger")[1]
    kept = [f"${{{{ inputs.ledger }}}}{end}" for end in ("", ".seal", ".report")]
    assert re.search(r"path: \|\n((?: {10}.*\n)+)", text)[1].split("\n")[:3] == [
        f"          {line}" for line in kept
    ]


LISTENER = """#!/bin/bash
printf "%s\\n" "$@" > "$PWD/asked"
"""


@pytest.mark.parametrize(
    ("adds", "given"),
    [
        ("true", ["--ledger", "a b/l.jsonl", "--build", "7"]),
        ("false", []),
        (None, ["--ledger", "a b/l.jsonl", "--build", "7"]),
    ],
)
def test_a_run_that_only_reads_is_given_no_ledger(adds, given, runner, tmp_path) -> None:
    """Where the action does not keep it (None), every run adds, as before."""
    (tmp_path / "bin" / "dpassay").write_text(LISTENER)
    (tmp_path / "bin" / "dpassay").chmod(0o755)
    runner(only="Verify", adds=adds, target="x.py:y", ledger="a b/l.jsonl", build="7")
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [one for one in asked if one in ("--ledger", "a b/l.jsonl", "--build", "7")] == given


def a_report(verdict: str) -> str:
    """The text of a report that one check decides."""
    check = {"id": "noise-scale", "verdict": verdict, "message": "said"}
    check["code"] = "scale-too-small" if verdict == "fail" else None
    said = {"verdict": verdict, "meaning": "m", "claimed": "c", "queries": 1, "seconds": 1.0}
    more = {"seed": 7, "false_alarm": 1e-6, "versions": {"dpassay": "0.1.0", "python": "3"}}
    claim = {"mechanism": {"name": "gnmax", "noise": "gaussian:40"}, "gate": {}}
    return json.dumps({**said, **more, "kind": "labels", "claim": claim, "checks": [check]})


@pytest.mark.parametrize(
    "adds", ["true", pytest.param("false", marks=pytest.mark.slow("the same of a run that reads"))]
)
def test_the_summary_says_what_became_worse(adds, runner, tmp_path) -> None:
    """Beside the report that came with the ledger; only a run that adds leaves its own there."""
    for folder, verdict in {"l.jsonl.report": "pass", "new": "fail"}.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "report.json").write_text(a_report(verdict))
    (tmp_path / "l.jsonl").write_text('{"entry":"ledger"} changed\n')
    done = runner(only="Summarise", adds=adds, report="new", ledger="l.jsonl")["Summarise"]
    assert done.returncode == 0, done.stderr
    text = unescape((tmp_path / "summary.md").read_text())
    assert "### dpassay: 2 things became worse since the report before" in text
    assert "- worse: the run: pass, then fail by noise-scale (scale-too-small)" in text
    kept = json.loads((tmp_path / "l.jsonl.report" / "report.json").read_text())
    assert kept["verdict"] == {"true": "fail", "false": "pass"}[adds]
    assert any("the ledger cannot be read" in line for line in commands(done))
    assert sum("title=dpassay%3A worse" in line for line in commands(done)) == 1
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize(
    "adds", ["true", pytest.param("false", marks=pytest.mark.slow("the same of a run that reads"))]
)
def test_a_whole_ledger_is_kept_by_a_run_that_adds(adds, runner, tmp_path) -> None:
    """Also where the run has failed, or left no report."""
    with open_ledger(str(tmp_path / "l.jsonl"), small_claim(), "a", print) as ledger:
        ledger.begin()
        ledger.end(100, "fail")
    done = runner(only="Summarise", adds=adds, report="new", ledger="l.jsonl")["Summarise"]
    assert done.returncode == 2
    kept = (tmp_path / "output").read_text() if (tmp_path / "output").exists() else ""
    assert kept == {"true": "keep=true\n", "false": ""}[adds]


@pytest.mark.slow("over half a second")
def test_a_first_run_has_nothing_to_be_compared_with(runner, tmp_path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "report.json").write_text(a_report("pass"))
    done = runner(only="Summarise", adds="false", report="new", ledger="l.jsonl")["Summarise"]
    assert done.returncode == 0, done.stderr
    text = unescape((tmp_path / "summary.md").read_text())
    assert "the ledger is not there: l.jsonl" in text
    assert commands(done) == []


@pytest.mark.slow("installs and runs as a job would; another is")
def test_the_report_is_kept_and_summarised_for_half_the_noise(runner, tmp_path) -> None:
    """Hostile names of files stay names, in the shell, in Markdown and in what the runner obeys."""
    (tmp_path / "a|b %0A<b>.py").write_text(TARGETS)
    folder = "report; touch broken"
    done = runner(
        target="a|b %0A<b>.py:half_noise",
        claim="claim.toml",
        report=folder,
        requirements="of mine.txt",
    )
    installed = (tmp_path / "installed").read_text().splitlines()
    assert installed == ["--quiet", str(ROOT), "--requirement", "of mine.txt"]
    assert done["Verify"].returncode == 1, done["Verify"].stderr
    assert {file.name for file in (tmp_path / folder).iterdir()} == {
        "index.html",
        "junit.xml",
        "report.json",
    }
    made = json.loads((tmp_path / folder / "report.json").read_text())
    assert made["claim"]["gate"]["redact"] is True
    assert not (tmp_path / "broken").exists()
    assert done["Summarise"].returncode == 0, done["Summarise"].stderr
    shown = commands(done["Summarise"])
    assert any(line.startswith("::error title=dpassay%3A class-prob") for line in shown)
    text = (tmp_path / "summary.md").read_text()
    assert text.startswith("### dpassay: fail\n")
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 14
    assert all(line.count("|") == 4 for line in table)
    assert "<b>" not in text
    assert "| fail | class-probabilities |" in unescape(table[2])


@pytest.mark.slow("over half a second")
def test_what_a_target_says_is_neither_markdown_nor_a_command(runner, tmp_path) -> None:
    (tmp_path / "raises.py").write_text(TARGETS)
    done = runner(target="raises.py:raises", claim="claim.toml")
    assert (tmp_path / "installed").read_text().splitlines() == ["--quiet", str(ROOT)]
    assert done["Verify"].returncode == 2
    assert "::add-mask::a" in done["Verify"].stdout.splitlines()
    assert commands(done["Verify"]) == []
    (shown,) = commands(done["Summarise"])
    assert shown.startswith("::error title=dpassay%3A ")
    assert " input-contract%3A error::" in shown
    assert "50%25 ::error::gone" in shown
    text = (tmp_path / "summary.md").read_text()
    assert "50% ::error::gone|<b>`x`</b>" in unescape(text)
    assert not re.search(r"^\s*::|<b>|`|gone\|", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"target": "mine.py:x", "log": "a.csv"}, "both target and log were given"),
        ({}, "neither target nor log was given, and no dpassay.toml is here"),
    ],
)
def test_a_target_or_a_log_is_expected_in_one_line(inputs, words, runner) -> None:
    """It comes first, so that nothing is installed, nor summarised, for it."""
    assert STEPS[0].name == "Look at the inputs"
    first = runner(claim="claim.toml", only=STEPS[0].name, **inputs)[STEPS[0].name]
    (line,) = commands(first)
    assert first.returncode == 2
    assert line == f"::error title=dpassay::{words}: expected one of them"


@pytest.mark.slow("over half a second")
def test_a_log_is_judged_and_summarised_as_one(runner, tmp_path) -> None:
    """Its name has a blank: catches one that the shell takes apart."""
    row = ",".join(["25"] * 10)
    header = ",".join([f"class_{n}" for n in range(10)] + ["label"])
    (tmp_path / "of may.csv").write_text("\n".join([header, *[f"{row},0"] * 200]))
    done = runner(log="of may.csv", claim="claim.toml")
    assert done["Look at the inputs"].returncode == 0
    assert done["Verify"].returncode == 1, done["Verify"].stderr
    text = unescape((tmp_path / "summary.md").read_text())
    assert "log: of may.csv; " in text
    assert "; 200 rows in " in text


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"queries": "0"}, "--queries': '0': expected a whole number from 1"),
        ({"profile": "nightly"}, "--profile nightly: no dpassay.toml"),
        ({"sarif": "none/found.sarif"}, "--sarif 'none/found.sarif': expected a file in a folder"),
        ({"coverage": "claim.toml/a b.info"}, "--coverage claim.toml/a b.info: no file can be"),
        ({"max-seconds": "0"}, "--max-seconds': '0': expected seconds above 0"),
    ],
)
def test_queries_and_seconds_reach_the_command(given, words, runner) -> None:
    done = runner(target="mine.py:x", claim="claim.toml", only="Verify", **given)["Verify"]
    assert done.returncode == 2
    assert words in done.stderr


SERVER = """
import http.server, time
time.sleep(0.5)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(404)
http.server.HTTPServer(("127.0.0.1", {port}), Handler).handle_request()
"""


@pytest.mark.slow("over half a second")
@pytest.mark.skipif(shutil.which("curl") is None, reason="the workflow waits by curl")
def test_the_workflow_of_the_docs_waits_for_its_server(tmp_path) -> None:
    """The server is late, and has no page at /: any answer says that it is there."""
    page = (ROOT / "docs" / "how-to" / "ci.md").read_text()
    (workflow,) = (text for text in re.findall(r"```yaml\n(.*?)```", page, re.S) if "curl" in text)
    start, use = (step for step in blocks(workflow, 6) if "curl" in step or "dpassay@" in step)
    assert set(re.findall(r"^ {10}([\w-]+):", use, re.MULTILINE)) <= set(DEFAULTS) | {"claim"}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "server.py").write_text(SERVER.format(port=port))
    script = textwrap.dedent(start.split("run: |\n")[1]).replace("8000", str(port))
    command = f"uvicorn service:app --port {port}"
    assert command in script
    script = script.replace(command, shlex.join([sys.executable, "server.py"]))
    done = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, check=False, timeout=60)
    assert done.returncode == 0
    assert "404" in (tmp_path / "server.log").read_text()


@pytest.mark.slow("installs and runs as a job would; another is")
def test_without_a_report_the_summary_says_so_and_an_older_one_is_gone(runner, tmp_path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "report.json").write_text("{}")
    done = runner(target="nowhere.py:attr", claim="absent.toml", report="old")
    assert done["Verify"].returncode == 2
    assert done["Summarise"].returncode == 2
    (shown,) = commands(done["Summarise"])
    assert shown.startswith("::error title=dpassay::")
    assert "no report" in shown
    assert (tmp_path / "summary.md").read_text().startswith("### dpassay: no report\n")
