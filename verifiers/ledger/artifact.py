"""The newest ledger among the artifacts of a repository on GitHub.

`python -m dpassay.verifiers.ledger.artifact NAME FILE` says, in the file that GITHUB_OUTPUT names,
whether this run adds to the ledger FILE (`adds`), the run whose artifact NAME has the newest one
(`run`, empty where there is none yet), and the folder that it belongs into (`folder`).

Runs of the default branch add, one after another, whatever their verdict. All others read: those of
pull requests, whose runs a fork could repeat until they please, of branches and of tags.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from ..text import printable

_SECONDS = 30.0


def newest_run(artifacts: list[Mapping[str, Any]], branch: str) -> str:
    """The id of the run with the newest artifact of a branch of the repository itself, or ""."""
    own = [
        one
        for one in artifacts
        if not one["expired"]
        and one["workflow_run"]["head_branch"] == branch
        and one["workflow_run"]["head_repository_id"] == one["workflow_run"]["repository_id"]
    ]
    newest = max(own, key=lambda one: str(one["created_at"]), default=None)
    return "" if newest is None else str(newest["workflow_run"]["id"])


def main(arguments: list[str]) -> None:
    """Writes the outputs; exits 2 where a run that may add cannot look for the newest ledger.

    It would begin another ledger then, and spend the same error twice.
    """
    if len(arguments) != 2 or "GITHUB_OUTPUT" not in os.environ:
        sys.exit("usage: python -m dpassay.verifiers.ledger.artifact NAME FILE, in a job on GitHub")
    name, ledger = arguments
    reads = os.environ["GITHUB_EVENT_NAME"].startswith("pull_request")
    run = ""
    try:
        repository = _asked("")
        branch = repository["default_branch"]
        reads = reads or os.environ["GITHUB_REF"] != f"refs/heads/{branch}"
        found = _asked("/actions/artifacts", name=name, per_page="100")
        run = newest_run(found["artifacts"], branch)
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        level = "warning" if reads else "error"
        why = printable(f"the newest ledger could not be looked for: {error}").replace("%", "%25")
        print(f"::{level} title=dpassay::{why}; the job needs the permission actions: read")
        if not reads:
            sys.exit(2)
    lines = {"adds": "false" if reads else "true", "run": run, "folder": str(Path(ledger).parent)}
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as file:
        file.writelines(f"{key}={value}\n" for key, value in lines.items())


def _asked(path: str, **query: str) -> Any:
    """The JSON that GitHub answers of this repository. Raises httpx.HTTPError or ValueError."""
    place = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}{path}"
    headers = {"Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}"}
    answer = httpx.get(place, params=query, headers=headers, timeout=_SECONDS)
    answer.raise_for_status()
    return answer.json()


if __name__ == "__main__":
    main(sys.argv[1:])
