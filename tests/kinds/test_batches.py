"""Samplers: their exact laws, the null of each wager, transports, claims, and whole runs."""

import itertools
import json
import math
import sys
import tomllib
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import numpy as np
import pytest
from batch_zoo import BROKEN, CORRECT, RECORDS, law
from scipy.stats import norm
from typed import typed

from dpassay.reference.accounting.batches import batches_epsilon, epochs_epsilon
from dpassay.reference.batches import Batches, hypergeometric, runs
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.batches import pairs
from dpassay.verifiers.kinds.batches.watch import Watch
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget, ProcessTarget, TargetError
from dpassay.verifiers.targets.batches import BatchRelease
from dpassay.verifiers.targets.http import HttpTarget

CLAIM = '[mechanism]\nname = "batches"\nsampling = "{}"\nrecords = {}\n'


def claim_of(sampling, records=RECORDS, more=""):
    return parse_claim(tomllib.loads(CLAIM.format(sampling, records) + more))


@pytest.mark.parametrize("size", [1, 3, 5, 7])
def test_the_laws_of_overlaps_and_runs_are_those_of_all_subsets(size) -> None:
    """Catches one gap too few at the ends of a row, and marked records for unmarked ones."""
    overlaps, rows, all_of = Counter(), Counter(), list(itertools.combinations(range(7), size))
    for subset in all_of:
        overlaps[len({*subset} & {0, 3, 4})] += 1
        rows[size - sum(i + 1 in subset for i in subset)] += 1
    for (values, logs), counted in ((hypergeometric(7, 3, size), overlaps), (runs(7, size), rows)):
        found = dict(zip(values.astype(int).tolist(), np.exp(logs), strict=True))
        assert found == pytest.approx({k: n / len(all_of) for k, n in counted.items()})


def every_run(batches, steps):
    """All sequences of so many batches, each with its probability."""
    n = batches.records
    runs_of: list[Any] = [((), 1.0)]
    for _ in range(steps):
        longer = []
        for before, p in runs_of:
            left = n - sum(map(len, before)) % n
            pool = {*range(n)}
            if batches.how.value == "shuffle":
                begun = sum(map(len, before)) // n * n
                pool -= {*list(itertools.chain(*before))[begun:]}
            size = batches.size(left)
            for k in range(n + 1) if size is None else [size]:
                subsets = list(itertools.combinations(sorted(pool), k))
                q = batches.amount
                each = q**k * (1 - q) ** (n - k) if size is None else 1 / len(subsets)
                longer += [((*before, subset), p * each) for subset in subsets]
        runs_of = longer
    return runs_of


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("sampling", "records", "steps"),
    [("poisson:0.4", 3, 3), ("fixed:2", 4, 3), ("shuffle:2", 4, 4)],
)
def test_no_evidence_grows_in_the_mean_under_the_claim(sampling, records, steps, monkeypatch):
    """Enumerated over all runs; catches a ratio that is not divided by what the claim says.

    Pairs are followed from the first batch, so that they are among the wagers.
    """
    monkeypatch.setattr(pairs, "_CHANCE", 0.3)
    batches = Batches.parse(sampling, records)
    means, total, followed = Counter(), 0.0, 0
    for batches_of, p in every_run(batches, steps):
        watch = Watch(batches)
        for batch in batches_of:
            watch.observe(np.array(batch, dtype=np.int64))
        assert not watch.proofs
        total += p
        followed += len(watch.dependence.pairs.pairs)
        parts = {"inclusion": watch.inclusion.wagers, "independence": watch.dependence.wagers}
        if watch.sizes is not None:
            parts["sizes"] = watch.sizes.wagers
        for name, wagers in parts.items():
            for group in wagers.names:
                means[name, group] += p * math.exp(wagers.of(group) - part(wagers, group))
            means[name, "all"] += p * math.exp(wagers.log_e_value)
    assert total == pytest.approx(1.0)
    assert followed
    for (name, group), mean in means.items():
        assert mean <= 1.0 + 1e-9, (name, group)
        if "copies" not in group and "came before" not in group:
            assert mean > 0.5, (name, group)  # a wager that loses everywhere is none


def part(wagers, group):
    at = wagers.places[group]
    return float(np.logaddexp.reduce(wagers.weights[at]))


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, id=entry.name, marks=pytest.mark.quick_cases(12))
        for entry in sorted(BROKEN, key=lambda entry: entry.within)
    ],
)
def test_a_wrong_sampler_is_found_by_its_check(entry) -> None:
    """Each finds what it is there for; catches evidence that asks another question."""
    report = verify(entry.target(1, 7), entry.claim, seed=1)
    failed = {check.id: check.code for check in report.checks if check.verdict is Verdict.FAIL}
    assert failed.keys() & {*entry.caught}
    assert not entry.code or {*failed.values()} == {entry.code}
    assert report.found_after <= entry.within


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("entry", CORRECT, ids=lambda entry: entry.name)
def test_a_right_sampler_passes(entry) -> None:
    """One in a million may fail; catches a pool or a size that is not the law's."""
    report = verify(entry.target(1, 7), entry.claim, seed=1, queries=80)
    assert report.verdict is Verdict.PASS, report.checks


@pytest.mark.slow("over half a second")
def test_a_failure_says_what_was_found() -> None:
    def found(name):
        entry = next(entry for entry in BROKEN if entry.name == name)
        report = verify(entry.target(2, 7), entry.claim, seed=2)
        failed = next(check for check in report.checks if check.verdict is Verdict.FAIL)
        return failed.code, failed.fields

    code, fields = found("a fixed size, claimed as Poisson")
    assert (code, fields["size"]) == ("batch-size-fixed", 40)
    code, _ = found("shuffled epochs, of binomial sizes")
    assert code == "shuffled-not-sampled"
    code, fields = found("a seed for each epoch")
    assert (code, fields) == ("batch-repeated", {"batch": 52, "earlier": 2})
    code, fields = found("the last batch dropped")
    assert (code, fields["batch"], fields["left"]) == ("record-again-in-epoch", 50, 40)


def test_a_short_last_batch_that_is_dropped_is_proven() -> None:
    def made(rng):
        while True:
            yield from np.split(rng.permutation(500), range(37, 500, 37))[:-1]

    claim = claim_of("shuffle:37", 500)
    target = InProcessTarget(made(np.random.default_rng(1)), release=claim.release)
    report = verify(target, claim, seed=1)
    failed = next(check for check in report.checks if check.verdict is Verdict.FAIL)
    assert failed.id == "batch-size"
    assert failed.code == "last-batch-dropped"
    assert failed.fields == {"batch": 14, "size": 37, "expected": 19, "left": 19}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CLAIM.format("poisson:1.5", 100), "expected a probability between 0 and 1"),
        (CLAIM.format("fixed:101", 100), "expected a whole number from 1 to 100"),
        (CLAIM.format("random:5", 100), "expected poisson:Q"),
        (CLAIM.format("fixed:5", 1), "records"),
        (
            CLAIM.format("fixed:5", 10) + "[privacy]\nepsilon = 1.0\ndelta = 1e-5\nqueries = 9\n",
            "noise_multiplier is missing",
        ),
        (CLAIM.format("fixed:5", 10) + "[accountant]\n", "a sampler has no charges"),
    ],
)
def test_a_claim_that_is_none_is_told(text, said) -> None:
    with pytest.raises(ClaimError, match=said):
        parse_claim(tomllib.loads(text))


def test_batches_come_from_functions_iterators_and_epochs() -> None:
    """An epoch is begun again; a list or an iterator ends."""
    release = BatchRelease(9)

    class Epochs:
        def __iter__(self):
            return iter([np.array([1, 2]), [3]])

    def asked(made):
        target = InProcessTarget(made, release=release)
        got = [release.shaped(target.ask(None, 1), None, 1) for _ in range(3)]
        return [None if one is None else one.tolist() for one in got]

    assert asked(lambda: (4, 5)) == [[4, 5]] * 3
    assert asked(Epochs()) == [[1, 2], [3], [1, 2]]
    assert asked(iter([[1], []])) == [[1], [], None]
    assert asked([[8]]) == [[8], None, None]
    with pytest.raises(ValueError, match="next_batch"):
        asked(3)


@pytest.mark.parametrize("reply", [[9], [-1], [0.5], "12", [[1, 2], [3, 4]], {"a": 1}, [True]])
def test_what_is_no_batch_is_an_error(reply) -> None:
    with pytest.raises(TargetError) as error:
        BatchRelease(9).shaped(reply, None, 1)
    assert error.value.code == "reply-malformed"


@pytest.mark.slow("over half a second")
def test_a_program_and_a_server_are_asked_for_batches() -> None:
    """The request is that of the pages, and has no size, which a sampler would take for its own."""
    program = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line) == {'call': 'batch'}\n"
        "    print(json.dumps({'records': [3, 1] if asked else ['no']}), flush=True)\n"
    )
    release = BatchRelease(9)
    target = ProcessTarget([sys.executable, "-c", program], 10.0, release=release)
    assert release.shaped(target.ask(None, 1), None, 1).tolist() == [3, 1]
    target.close()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            known = self.path == "/batch" and json.loads(body) == {}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"records": [4] if known else ["no"]}).encode())

        def log_message(self, *_):
            """Says nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    behind = HttpTarget(f"http://127.0.0.1:{server.server_port}", 10.0, release=release)
    assert release.shaped(behind.ask(None, 1), None, 1).tolist() == [4]
    behind.close()
    server.shutdown()
    server.server_close()


@pytest.mark.slow("a process that draws thousands of batches; functions are quick")
def test_the_command_draws_from_a_file(tmp_path, monkeypatch) -> None:
    """A sampler in a process of its own, and what it costs beside what it claims."""
    monkeypatch.chdir(tmp_path)
    privacy = "noise_multiplier = 1.0\n[privacy]\nepsilon = 1.0\ndelta = 1e-5\nqueries = 500\n"
    (tmp_path / "claim.toml").write_text(CLAIM.format("poisson:0.02", 2_000) + privacy)
    (tmp_path / "made.py").write_text(
        "import numpy as np\n"
        "rng = np.random.default_rng(5)\n"
        "def shuffled():\n"
        "    while True:\n"
        "        yield from np.split(rng.permutation(2_000), 50)\n"
        "batches = shuffled()\n"
    )
    done = typed("verify", "made.py:batches", "--claim", "claim.toml", "--json")
    assert done.returncode == 1, done.stderr
    found = {check["id"]: check for check in json.loads(done.stdout)["checks"]}
    assert found["batch-size"]["verdict"] == "fail"
    cost = found["privacy-claim"]
    assert (cost["verdict"], cost["code"]) == ("fail", "cost-above-claim")
    assert cost["fields"]["cost"] > cost["fields"]["epsilon"] == 1.0
    assert 10.0 < cost["fields"]["without_amplification"] < 20.0


def test_batches_that_end_too_soon_are_inconclusive() -> None:
    made = law("poisson:0.02")(np.random.default_rng(2))
    claim = claim_of("poisson:0.02")
    target = InProcessTarget(itertools.islice(made, 3), release=claim.release)
    report = verify(target, claim, seed=1)
    assert report.verdict is Verdict.INCONCLUSIVE
    ended = [check.fields for check in report.checks if check.code == "no-more-batches"]
    assert ended
    assert all(fields["batches"] == 3 for fields in ended)


@pytest.mark.slow("over half a second")
def test_one_step_costs_what_the_integrals_say() -> None:
    """By the closed form of delta (Balle, Barthe and Gaboardi 2018, Theorem 2), both directions.

    Catches a rate that is not squared with itself, and a bracket that is upside down.
    """
    q, sigma, delta = 0.02, 0.8, 1e-5

    def gaussian(epsilon):
        return norm.cdf(0.5 / sigma - epsilon * sigma) - math.exp(epsilon) * norm.cdf(
            -0.5 / sigma - epsilon * sigma
        )

    def amplified(epsilon):
        return q * gaussian(math.log1p(math.expm1(epsilon) / q))

    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if amplified(middle) > delta else (low, middle)
    found = batches_epsilon(Batches.parse(f"poisson:{q}", 1_000), sigma, 1, delta)
    assert found.low <= low * (1 + 1e-6)
    assert found.high >= low * (1 - 1e-6)
    assert found.high - found.low < 0.01 * low
    epochs = epochs_epsilon(Batches.parse("shuffle:250", 1_000), 2 * sigma, 16, delta)
    # four epochs of twice the noise are one of it
    single = next(e for e in np.arange(0.0, 20.0, 0.001) if gaussian(e) <= delta)
    assert epochs == pytest.approx(single, abs=0.01)


@pytest.mark.slow("the whole of a pass of each right sampler; the rate is measured by a benchmark")
@pytest.mark.parametrize("entry", CORRECT, ids=lambda entry: entry.name)
def test_a_right_sampler_passes_whole_runs(entry) -> None:
    report = verify(entry.target(3, 7), entry.claim, seed=3)
    assert report.verdict is Verdict.PASS, report.checks


def test_a_law_draws_what_it_says() -> None:
    rng = np.random.default_rng(1)
    sizes = [len(batch) for batch, _ in zip(law("shuffle:30", 100)(rng), range(8), strict=False)]
    assert sizes == [30, 30, 30, 10] * 2
