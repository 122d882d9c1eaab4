"""Deployments that take queries, or votes, are judged by the inputs of their claim."""

import json
import re
import sys

import numpy as np
import pytest
from claims import SMALL, gnmax, in_toml
from runs import number, result
from typed import typed

from dpassay.verifiers.claims.open_target import in_process, open_claimed
from dpassay.verifiers.kinds.labels.checks.budget_enforcement import LabelsBudgetEnforcement
from dpassay.verifiers.kinds.labels.checks.privacy_audit import LabelsPrivacyAudit
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select

TEACHERS, CLASSES, SCALE = 40, 4, 10.0


@pytest.fixture(scope="module")
def votes():
    """Votes (inputs, teachers) of an ensemble that agrees on some inputs and not on others."""
    rng = np.random.default_rng(5)
    laws = rng.dirichlet([0.6] * CLASSES, 120)
    return np.stack([rng.choice(CLASSES, TEACHERS, p=law) for law in laws])


@pytest.fixture
def claim(votes, tmp_path):
    def made(form, **tables):
        file = tmp_path / "queries.jsonl"
        rows = [
            {"id": f"q{i}", "input": {"image": i}, "votes": each.tolist()}
            for i, each in enumerate(votes)
        ]
        file.write_text("\n".join(map(json.dumps, rows)))
        mechanism = gnmax(SCALE, CLASSES, TEACHERS)
        gate = {"tolerance": 0.2, "smallest_effect": 0.1, "false_alarm": 1e-3}
        inputs = {"file": str(file), "form": form}
        return parse_claim({"mechanism": mechanism, "gate": gate, "inputs": inputs, **tables})

    return made


def deployed(votes, form, scale=SCALE, seed=0):
    """An aggregator that takes inputs in this form, and what it was asked."""
    rng, asked = np.random.default_rng(seed), []
    histograms = {
        "query": lambda given: np.bincount(votes[given["image"]], minlength=CLASSES),
        "votes": lambda given: np.bincount(given, minlength=CLASSES),
        "one-hot": lambda given: given.sum(0),
        "histogram": lambda given: given,
    }

    def aggregate(given, size):
        histogram = histograms[form](given)
        asked.append(tuple(histogram.tolist()))
        return (histogram + rng.normal(0.0, scale, (size, CLASSES))).argmax(1)

    return aggregate, asked


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "form",
    [
        "query",
        *(
            pytest.param(form, marks=pytest.mark.slow("whole runs; another form is"))
            for form in ("votes", "one-hot", "histogram")
        ),
    ],
)
def test_each_form_passes_and_only_inputs_are_asked(form, votes, claim) -> None:
    made = claim(form, privacy={"epsilon": 3.0, "delta": 1e-5, "queries": 40})
    aggregate, asked = deployed(votes, form)
    report = verify(in_process(aggregate, made), made, seed=0)
    assert report.verdict == "pass", [check.message for check in report.checks]
    assert set(asked) <= {row.histogram for row in made.given}
    (told,) = (warning for warning in report.notes if warning.code == "only-given-inputs")
    asked, histograms, rows = (number(told, name) for name in ("asked", "histograms", "rows"))
    assert 0 < asked <= histograms <= rows


@pytest.mark.parametrize("form", ["query", "one-hot"])
@pytest.mark.slow("over half a second")
def test_half_the_noise_is_found_and_named(form, votes, claim) -> None:
    made = claim(form)
    aggregate, _ = deployed(votes, form, SCALE / 2.0)
    alone = select(["class-probabilities"], of=SHARES)
    report = verify(in_process(aggregate, made), made, seed=0, selection=alone)
    assert report.verdict == "fail"
    found = result(report, "class-probabilities")
    assert (found.code, found.fields["factor"]) == ("scale-too-small", 0.5)
    assert named_input(found.message, votes)


def named_input(message, votes):
    """Whether a message names an input by its id, and the votes that are on this one."""
    at, told = re.search(r"input 'q(\d+)' \((\[[\d, ]+\])\)", message).groups()
    return json.loads(told) == np.bincount(votes[int(at)], minlength=CLASSES).tolist()


def test_a_seed_made_of_the_query_is_found(votes, claim) -> None:
    """A deployment that takes queries can make its seed of them."""

    def seeded(query, size):
        rng = np.random.default_rng(query["image"])
        histogram = np.bincount(votes[query["image"]], minlength=CLASSES)
        return (histogram + rng.normal(0.0, SCALE, (size, CLASSES))).argmax(1)

    made = claim("query")
    alone = select(["fresh-noise"], of=SHARES)
    report = verify(in_process(seeded, made), made, seed=0, selection=alone)
    assert result(report, "fresh-noise").verdict == "fail"


@pytest.fixture
def alike(tmp_path):
    """A claim of queries, two of which have the same votes."""
    rows = [[18, 16, 6, 0], [18, 16, 6, 0], [30, 5, 5, 0], [20, 19, 1, 0], [19, 20, 1, 0]]
    lines = [{"input": {"image": i}, "histogram": row} for i, row in enumerate(rows)]
    file = tmp_path / "alike.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    mechanism = SMALL
    gate = {"tolerance": 0.5, "smallest_effect": 0.3}
    inputs = {"file": str(file), "form": "query"}
    return rows, parse_claim({"mechanism": mechanism, "gate": gate, "inputs": inputs})


@pytest.mark.parametrize("seeded_by", ["votes", "input"])
@pytest.mark.slow("over half a second")
def test_two_inputs_with_the_same_votes_are_both_asked(alike, seeded_by) -> None:
    """A generator for each input, seeded by its votes: the n-th answers to both are the same.

    Seeded by the input, it is right. Catches a run that asks the first of the two alone.
    """
    rows, made = alike
    kept, asked = {}, set()

    def aggregate(query, size):
        at = query["image"]
        asked.add(at)
        seed = [7, *rows[at]] if seeded_by == "votes" else [7, at]
        rng = kept.setdefault(at, np.random.default_rng(seed))
        return (rows[at] + rng.normal(0.0, 10.0, (size, 4))).argmax(1)

    found = result(verify(in_process(aggregate, made), made, seed=0), "fresh-noise")
    assert asked == set(range(5))
    assert found.verdict == ("fail" if seeded_by == "votes" else "pass")
    assert found.code == ("seed-of-the-votes" if seeded_by == "votes" else None)


@pytest.mark.slow("a whole pass; another form's is")
def test_votes_may_do_without_a_file() -> None:
    """Any histogram may then be asked, as votes that have it."""
    mechanism = SMALL
    gate = {"tolerance": 0.2, "smallest_effect": 0.1, "false_alarm": 1e-3}
    made = parse_claim({"mechanism": mechanism, "gate": gate, "inputs": {"form": "votes"}})
    rng = np.random.default_rng(0)

    def aggregate(given, size):
        assert given.ndim == 1
        histogram = np.bincount(given, minlength=4)
        return (histogram + rng.normal(0.0, 10.0, (size, 4))).argmax(1)

    report = verify(in_process(aggregate, made), made, seed=0)
    assert report.verdict == "pass"
    assert result(report, "shift-invariance").verdict == "pass"


CHILD = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    given = asked.get("query", asked.get("votes"))
    kind = given["image"] if isinstance(given, dict) else len(given) % 4
    print(json.dumps({"labels": [kind % 4] * asked["size"]}), flush=True)
"""


@pytest.mark.slow("over half a second")
def test_children_and_python_targets_take_every_form(claim, tmp_path) -> None:
    """What travels is the query itself, or the votes, whichever transport carries it."""
    (tmp_path / "child.py").write_text(CHILD)
    (tmp_path / "target.py").write_text(
        "def query(given, size):\n    return [given['image'] % 4] * size\n"
        "def one_hot(given, size):\n    return [given.shape[1] - 1] * size\n"
    )
    made = claim("query")
    at = next(i for i, row in enumerate(made.given) if json.loads(row.query)["image"] % 4 == 3)
    histogram = np.array(made.given[at].histogram)
    for spec in (f"exec:{sys.executable} {tmp_path}/child.py", f"{tmp_path}/target.py:query"):
        target = open_claimed(spec, made)
        assert list(target.ask(histogram, 2)) == [3, 3]
        target.close()
    target = open_claimed(f"{tmp_path}/target.py:one_hot", claim("one-hot"))
    assert list(target.ask(histogram, 2)) == [CLASSES - 1] * 2
    target.close()


@pytest.mark.parametrize("form", ["query", "histogram"])
def test_an_accountant_is_asked_the_inputs_alone(form, votes, claim) -> None:
    """In the form of the queries; the costliest pairs are no inputs."""
    made, charged = claim(form), []

    class Charging:
        sample = staticmethod(deployed(votes, form)[0])

        def rdp(self, given, orders):
            charged.append(given["image"] if form == "query" else tuple(given.tolist()))
            return orders / SCALE**2

    chosen = select(["accountant-soundness"], of=SHARES)
    report = verify(in_process(Charging(), made), made, seed=0, selection=chosen)
    assert result(report, "accountant-soundness").verdict == "pass"
    if form == "histogram":
        assert set(charged) <= {row.histogram for row in made.given}
    assert charged


def test_a_bad_reply_is_told_of_the_query(claim, tmp_path) -> None:
    made = claim("query")
    report = verify(in_process(lambda query, size: [9] * size, made), made, seed=0)
    assert report.verdict == "error"
    found = result(report, "input-contract")
    assert found.code is not None
    assert "aggregate({'image':" in found.message


def test_a_bad_charge_is_told_of_the_query(votes, claim) -> None:
    made = claim("query")

    class Charging:
        sample = staticmethod(deployed(votes, "query")[0])

        def rdp(self, given, orders):
            return [-1.0] * len(orders)

    chosen = select(["accountant-soundness"], [], of=SHARES)
    report = verify(in_process(Charging(), made), made, seed=0, selection=chosen)
    assert "rdp({'image':" in result(report, "input-contract").message


@pytest.mark.slow("over half a second")
def test_a_budget_that_is_not_kept_is_told_of_the_input(votes, claim) -> None:
    """A histogram cannot be looked up in the file as easily as the id of its input."""
    made = claim("query", privacy={"epsilon": 1.0, "delta": 1e-5, "queries": 2})

    class Silent:
        sample = staticmethod(deployed(votes, "query")[0])

        def spent(self, delta):
            return 0.0

    check = LabelsBudgetEnforcement(made)
    assert check.run(in_process(Silent(), made)) is None
    assert named_input(check.violation.message, votes)


def test_an_audit_names_the_inputs_of_its_pair(votes, claim) -> None:
    made = claim("query", privacy={"epsilon": 0.5, "delta": 1e-5, "queries": 1})
    check = LabelsPrivacyAudit(make_plan(made, 0))
    for label, stream in enumerate(check.streams):
        check.observe(stream, np.full(check.plan.streams[stream].queries, label))
    outcome = check.conclude()
    message = outcome.finding.message
    assert outcome.verdict == "fail"
    assert named_input(message, votes)
    assert named_input(message.partition("and its neighbour")[2], votes)


def test_a_log_may_name_inputs_by_their_ids(votes, claim, tmp_path) -> None:
    made, rng = claim("query"), np.random.default_rng(2)
    path = tmp_path / "claim.toml"
    path.write_text(
        in_toml(
            mechanism=gnmax(SCALE, CLASSES, TEACHERS),
            inputs={"file": str(made.inputs.file), "form": "query"},
        )
    )
    rows, table = [], ["id,label"]
    for at in rng.integers(0, len(votes), 2000):
        histogram = np.bincount(votes[at], minlength=CLASSES)
        label = int((histogram + rng.normal(0, SCALE / 2, CLASSES)).argmax())
        rows.append(json.dumps({"id": f"q{at}", "label": label}))
        table.append(f"q{at},{label}")
    for name, lines in (("log.jsonl", rows), ("log.csv", table)):
        log = tmp_path / name
        log.write_text("\n".join(lines) + "\n")
        found = typed("verify", "--log", str(log), "--claim", str(path), "--seed", "1", "--json")
        assert found.returncode == 1, found.stderr
        codes = {check["id"]: check["code"] for check in json.loads(found.stdout)["checks"]}
        assert codes["noise-scale"] == "scale-too-small"
        log.write_text("\n".join([*lines, lines[-1].replace("q", "unknown")]) + "\n")
        found = typed("verify", "--log", str(log), "--claim", str(path))
        assert (found.returncode, found.stdout) == (2, "")
        assert "unknown" in found.stderr
        assert "not among" in found.stderr
