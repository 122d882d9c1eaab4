"""Claims: what is accepted, and the one line that an error is."""

import tomllib

import pytest
from claims import gnmax
from hypothesis import given
from runs import TOML

from dpassay.reference import ConfidentGNMax, Gaussian, NoisyArgmax
from dpassay.reference.accounting.neighbourhood import MOVED_VOTE, ONE_MORE_OR_LESS, Neighbourhood
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.kinds.reading import parse_claim, read_claim
from dpassay.verifiers.strategies import claims

MECHANISM = gnmax()


def test_defaults_are_those_of_the_contract() -> None:
    gate = parse_claim({"mechanism": MECHANISM}).gate
    assert gate.model_dump() == {
        "false_alarm": 1e-6,
        "tolerance": 0.05,
        "smallest_effect": 0.02,
        "max_queries": 200_000,
        "max_recoverable": 0.0,
        "timeout": 30.0,
        "run_timeout": None,
        "largest_call": None,
        "concurrency": 1,
        "restart": None,
        "fresh_state": None,
        "lifetime": "forever",
        "budget_target": None,
        "paths": None,
        "source": None,
        "least": {},
        "require": [],
        "strict": False,
        "redact": False,
        "fail_on": [],
        "allow": [],
    }


def test_a_claim_describes_its_mechanism() -> None:
    assert parse_claim({"mechanism": MECHANISM}).mechanism.mechanism() == NoisyArgmax(Gaussian(40))
    screened = MECHANISM | {
        "name": "confident-gnmax",
        "threshold": 200,
        "threshold_noise": "gaussian:150",
    }
    mechanism = parse_claim({"mechanism": screened}).mechanism
    assert mechanism.refuses
    assert mechanism.mechanism() == ConfidentGNMax(Gaussian(40), 200.0, Gaussian(150))


def test_a_claim_that_does_not_say_so_is_of_moved_votes() -> None:
    """And a report says it, as it does of every other."""
    for more, near, words in (
        ({}, MOVED_VOTE, "250 teachers, replace-one of a teacher"),
        ({"adjacency": "add-remove"}, ONE_MORE_OR_LESS, ", add-remove of a teacher"),
        ({"unit": "record"}, MOVED_VOTE, ", replace-one of a record"),
        (
            {"unit": "record", "max_teachers": 3},
            Neighbourhood(votes=3),
            ", replace-one of a record of at most 3 teachers",
        ),
    ):
        claim = parse_claim({"mechanism": MECHANISM | more})
        assert claim.mechanism.neighbourhood == near
        assert claim.summary.endswith(words)


@given(claims())
def test_claims_survive_their_public_form(claim) -> None:
    """What a report prints of a claim reads back as the same claim."""
    assert parse_claim(claim.model_dump(mode="json", exclude_none=True)) == claim


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"noise": "gausian:40"}, r"mechanism.noise: noise 'gausian:40': expected FAMILY:SCALE"),
        ({"noise": 40}, r"mechanism.noise = 40: expected a text such as 'gaussian:40'"),
        ({"noise": "laplace:40"}, r"'laplace:40': gnmax takes gaussian noise"),
        ({"name": "pate"}, r"mechanism.name = 'pate': did you mean gnmax\? of labels: gnmax"),
        ({"classes": 1}, r"mechanism.classes = 1: expected a whole number from 2 to 1000$"),
        ({"classes": "10"}, r"mechanism.classes = '10': expected a whole number from 2 to 1000$"),
        ({"size": 3}, r"mechanism.size is no known key: allowed are name, noise, classes"),
        (
            {"name": "confident-gnmax"},
            r"threshold and threshold_noise are missing: confident-gnmax needs them",
        ),
        (
            {"name": "confident-gnmax", "threshold": 5.0},
            r"mechanism: threshold_noise is missing: confident-gnmax needs it",
        ),
        ({"threshold": 5.0}, r"threshold = 5.0: only confident-gnmax takes it"),
        ({"adjacency": "add"}, r"mechanism.adjacency = 'add': expected 'replace-one' or"),
        (
            {"adjacency": "add-remove", "unit": "record"},
            r'adjacency = "add-remove": a record .* unit = "record" takes "replace-one"$',
        ),
        ({"max_teachers": 2}, r'max_teachers = 2: only unit = "record" takes it$'),
        (
            {"unit": "record", "max_teachers": 251},
            r"max_teachers = 251: expected at most teachers = 250$",
        ),
    ],
)
def test_wrong_mechanisms_are_named_in_one_line(change, words) -> None:
    with pytest.raises(ClaimError, match=words) as raised:
        parse_claim({"mechanism": MECHANISM | change})
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "mechanism is missing"),
        ({"mechanism": 3}, r"mechanism = 3: expected a table, \[mechanism\]"),
        ({"mechanism": MECHANISM, "gate": {"tolerence": 0.1}}, "gate.tolerence is no known key"),
        (
            {"mechanism": MECHANISM, "gate": {"tolerance": 2}},
            "gate.tolerance = 2: expected a finite number from 0.001 below 1$",
        ),
        ({"mechanism": MECHANISM, "gate": {"tolerance": float("nan")}}, "gate.tolerance = nan"),
        (
            {"mechanism": MECHANISM, "privacy": {"epsilon": 1.0, "queries": 5}},
            "privacy.delta is missing",
        ),
        (
            {"mechanism": MECHANISM, "privacy": {"epsilon": 1.0}},
            "privacy.delta and privacy.queries are missing",
        ),
        (
            {"mechanism": {"name": "gnmax"}},
            "mechanism.noise, mechanism.classes and mechanism.teachers are missing",
        ),
        ({"mechanism": MECHANISM, "privacy": {"eps": 1.0}}, "privacy"),
        (
            {"mechanism": MECHANISM, "gates": {}},
            "gates is no known key \\(did you mean gate\\?\\): allowed are mechanism",
        ),
    ],
)
def test_wrong_tables_are_named_in_one_line(table, words) -> None:
    with pytest.raises(ClaimError, match=words) as raised:
        parse_claim(table)
    assert "\n" not in str(raised.value)


def test_every_mistake_is_told_in_a_line_of_its_own() -> None:
    """Catches a claim that must be mended as often as it has mistakes, and a key told of twice."""
    mechanism = {"name": "gnmax", "noize": "gaussian:40", "classes": 1}
    with pytest.raises(ClaimError) as raised:
        parse_claim({"mechanism": mechanism, "gate": {"timeout": "long"}}, "claim.toml")
    first, *others = raised.value.mistakes
    assert first.startswith("claim.toml: mechanism.noize ")
    assert "mean noise?" in first
    assert str(raised.value) == f"{first}; 3 more mistakes"
    of_classes, of_teachers, of_timeout = others
    assert of_classes.startswith("claim.toml: mechanism.classes = 1: ")
    assert of_classes.endswith(" 2 to 1000")
    assert of_teachers.startswith("claim.toml: mechanism.teachers ")
    assert of_teachers.endswith(" missing")
    assert of_timeout.startswith("claim.toml: gate.timeout = 'long': ")
    assert of_timeout.endswith(" above 0 to 86400")


def test_a_byte_order_mark_is_no_part_of_a_claim(tmp_path) -> None:
    """Editors on Windows write one: it was taken for a key without a name."""
    path = tmp_path / "claim.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TOML.encode())
    assert read_claim(path) == read_claim(path) == parse_claim({"mechanism": MECHANISM})


def test_inputs_are_found_beside_the_claim(tmp_path, monkeypatch) -> None:
    """From any working directory; a file of that name there comes first, as it always did."""
    folder, elsewhere = tmp_path / "claims", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    claim, row = folder / "claim.toml", '{"histogram": [250, 0, 0, 0, 0, 0, 0, 0, 0, 0]}'
    claim.write_text(TOML + '[inputs]\nfile = "queries.jsonl"\n')
    monkeypatch.chdir(elsewhere)
    with pytest.raises(ClaimError, match=r"inputs\.file: queries\.jsonl: No "):
        read_claim(claim)
    (folder / "queries.jsonl").write_text(row)
    assert [sum(one.histogram) for one in read_claim(claim).given] == [250]
    assert read_claim(claim) == read_claim(claim)
    assert len(read_claim("../claims/claim.toml").given) == 1
    (elsewhere / "queries.jsonl").write_text(f"{row}\n{row}")
    assert len(read_claim(claim).given) == 2


def test_files_that_are_no_claims_are_named(tmp_path) -> None:
    missing = tmp_path / "none.toml"
    with pytest.raises(ClaimError, match=r"none.toml: No such"):
        read_claim(missing)
    broken = tmp_path / "broken.toml"
    broken.write_bytes(b"\xff[mechanism")
    with pytest.raises(ClaimError, match=r"broken.toml: not TOML: not UTF-8 text"):
        read_claim(broken)
    broken.write_text("[mechanism]\ncaching = True  # as Python has it\n")
    with pytest.raises(ClaimError, match=r"column 11\): 'caching = True .*caching = true\?"):
        read_claim(broken)
    broken.write_text("[mechanism]\nname = confident-gnmax\n")
    with pytest.raises(ClaimError, match=r'in quotes: name = "confident-gnmax"$'):
        read_claim(broken)
    with pytest.raises(ClaimError, match=r"py:aggregate: a target, not a claim"):
        read_claim("service.py:aggregate")
    broken.write_text('[targets.votes]\ntarget = "agg.py:fair"\n')
    with pytest.raises(ClaimError, match=r"broken.toml: a configuration, not a claim"):
        read_claim(broken)
    broken.write_text(f"[mechanism]\n{LABELS}[gate]\nqueries = 9\n")
    with pytest.raises(ClaimError, match=r"did you mean max_queries, or the option --queries\?"):
        read_claim(broken)


LABELS = 'name = "gnmax"\nclasses = 10\nteachers = 250\n'
TABLES = (
    'name = "table"\nadjacency = "add-remove"\nmax_partitions = 3\nmax_per_partition = 2\n'
    'kept = "uniform"\npartitions = ["a"]\n'
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LABELS + 'noise = "Gaussian:40"', "(did you mean gaussian:40?)"),
        (LABELS + 'noise = "normal:40;cut"', "(did you mean gaussian:40;cut?)"),
        (LABELS + 'noise = "gaussian(sigma=40)"', "(did you mean gaussian:40?)"),
        (
            LABELS + "sigma = 40",
            'mechanism.sigma is no known key (did you mean noise = "gaussian:40"?)',
        ),
        (LABELS + 'noise = "gaussian:40"\nsteps = 9', "(did you mean queries of [privacy]?)"),
        (
            'name = "noisy-gradient"\nnoise = "gaussian:1"\nadjacency = "add-remove"\n'
            "shapes = [[3]]\ndivide_by = 9\nmax_grad_norm = 1.0",
            "(did you mean clip_norm?)",
        ),
        *(
            (f'name = "noisy-count"\nadjacency = "add-remove"\nnoise = "{name}:4"', said)
            for name, said in {
                "geometric": "(did you mean discrete-laplace:4?)",
                "discrete_laplace": "(did you mean discrete-laplace:4?)",
                "Laplace": "(did you mean laplace:4?)",
            }.items()
        ),
        ('name = "discrete_laplace"', 'did you mean noise = "discrete-laplace:SCALE"'),
        ('name = "GNMax"', "did you mean gnmax?"),
        ('name = "dp-sgd"', "did you mean noisy-gradient?"),
        (
            TABLES + 'aggregates = {count = {noise = "laplace:1", sigma = 3}}',
            ": allowed are noise, lower, upper",
        ),
        (
            TABLES + 'aggregates = {users = {noise = "laplace:1"}}',
            "mechanism.aggregates.users is no known key: expected 'count'",
        ),
        (
            'name = "secure-tally"\nnoise = "gaussian:5"\nadjacency = "add-remove"\nparties = 6\n'
            "lower = 0\nupper = 1\ndimensions = 2\nmodulus = 999",
            "a tally is whole, expected binomial:S, discrete-gaussian:S, discrete-laplace:S",
        ),
    ],
)
def test_what_was_probably_meant_is_suggested(text, said) -> None:
    """Names of papers and libraries are further from ours than a mistyped letter."""
    with pytest.raises(ClaimError) as error:
        parse_claim(tomllib.loads(f"[mechanism]\n{text}\n"))
    assert said in str(error.value)
    assert "[key]" not in str(error.value)


def test_a_key_outside_its_table_is_put_into_it() -> None:
    with pytest.raises(ClaimError, match=r"noise is no known key \(it belongs to \[mechanism\]\)"):
        parse_claim(tomllib.loads('noise = "gaussian:40"'))
