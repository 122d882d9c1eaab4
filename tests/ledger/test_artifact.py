"""The newest ledger among a repository's artifacts, asked of a server in GitHub's place."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from dpassay.verifiers.ledger.artifact import main


def artifact(
    run: int, day: int, branch: str = "trunk", head: int = 1, *, expired: bool = False
) -> dict[str, Any]:
    """As GitHub lists one: of a run, of a branch of the repository that `head` is the id of."""
    of_run = {"id": run, "head_branch": branch, "repository_id": 1, "head_repository_id": head}
    return {"expired": expired, "created_at": f"2026-11-{day:02}T02:00:00Z", "workflow_run": of_run}


LISTED = [
    artifact(11, 1),
    artifact(13, 3),
    artifact(12, 2),
    artifact(21, 20, branch="other"),
    artifact(22, 21, head=2),  # a fork whose branch has that name too
    artifact(23, 22, expired=True),
]


Outputs = Callable[[str, str], dict[str, str]]
"""From an event and a ref to what the step writes."""


class GitHub:
    """Answers for one repository; status: of each answer; asked: paths with their queries."""

    def __init__(self) -> None:
        self.status, self.artifacts, self.asked = 200, LISTED, list[str]()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                found: dict[str, Any] = {"default_branch": "trunk"}
                if "/actions/artifacts?" in self.path:
                    found = {"artifacts": outer.artifacts}
                allowed = self.headers["Authorization"] == "Bearer secret"
                self.send_response(outer.status if allowed else 401)
                self.end_headers()
                self.wfile.write(json.dumps(found).encode())

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[GitHub]:
    made = GitHub()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    for name, value in {
        "API_URL": f"http://127.0.0.1:{made.server.server_port}",
        "REPOSITORY": "we/ours",
        "TOKEN": "secret",
        "OUTPUT": str(tmp_path / "output"),
    }.items():
        monkeypatch.setenv(f"GITHUB_{name}", value)
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


@pytest.fixture
def outputs(github: GitHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Outputs:
    def asked(event: str, ref: str) -> dict[str, str]:
        monkeypatch.setenv("GITHUB_EVENT_NAME", event)
        monkeypatch.setenv("GITHUB_REF", ref)
        main(["dpassay-ledger", "kept/nightly.jsonl"])
        lines = (tmp_path / "output").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)

    return asked


@pytest.mark.parametrize(
    ("event", "ref", "adds"),
    [
        ("push", "refs/heads/trunk", "true"),
        ("schedule", "refs/heads/trunk", "true"),
        ("pull_request", "refs/pull/7/merge", "false"),
        ("pull_request_target", "refs/heads/trunk", "false"),  # of a fork, on our branch
        ("push", "refs/heads/other", "false"),
        ("push", "refs/tags/trunk", "false"),
    ],
)
def test_only_the_default_branch_adds_and_all_read_its_newest(
    event: str, ref: str, adds: str, outputs: Outputs, github: GitHub
) -> None:
    """Catches the newest of all, of a fork, of a branch, or one that is gone."""
    assert outputs(event, ref) == {"adds": adds, "run": "13", "folder": "kept"}
    assert any("name=dpassay-ledger" in path for path in github.asked)


def test_where_there_is_none_yet_the_first_run_begins_it(outputs: Outputs, github: GitHub) -> None:
    github.artifacts = [artifact(22, 21, head=2)]
    assert outputs("push", "refs/heads/trunk") == {"adds": "true", "run": "", "folder": "kept"}


@pytest.mark.parametrize("status", [403, 500])
def test_a_run_that_cannot_look_begins_no_other_ledger(
    status: int,
    outputs: Outputs,
    github: GitHub,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It would spend the same error twice; one that only reads goes on without."""
    github.status = status
    with pytest.raises(SystemExit) as ended:
        outputs("push", "refs/heads/trunk")
    assert ended.value.code == 2
    assert not (tmp_path / "output").exists()
    assert capsys.readouterr().out.startswith("::error title=dpassay::")
    found = outputs("pull_request", "refs/pull/7/merge")
    assert found == {"adds": "false", "run": "", "folder": "kept"}
    shown = capsys.readouterr().out
    assert shown.startswith("::warning title=dpassay::")
    assert "actions: read" in shown


def test_outside_a_job_it_says_what_it_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_OUTPUT", raising=False)
    with pytest.raises(SystemExit, match=r"usage: .* NAME FILE, in a job on GitHub"):
        main(["name", "nightly.jsonl"])
