"""`dpassay init` on objects of libraries: what they say is written, what they do not is asked.

Most objects here are stand-ins with the attributes that the libraries document, so that all of this
runs where no library is installed; the last tests read real ones, where these are. Expected scales
are calculated by hand from the formulas of the mechanisms' papers.
"""

import math
import re
import tomllib
from types import SimpleNamespace

import pytest
from typed import assert_misuse, typed

from dpassay.verifiers.init.look import look_at
from dpassay.verifiers.init.objects import read_object
from dpassay.verifiers.init.objects.said import Said
from dpassay.verifiers.kinds.reading import parse_claim, unfilled_keys
from dpassay.verifiers.targets import TargetError


def stand_in(path, **attributes):
    """An object of the type `module.Class` with these attributes."""
    module, _, name = path.rpartition(".")
    return type(name, (SimpleNamespace,), {"__module__": module})(**attributes)


def text_of(it):
    what, said = read_object(it)
    compile("\n".join(said.stub or []), "target.py", "exec")
    return said.draft.text("a.py:b", what)


def claimed(it):
    """What a claim says, as TOML has it."""
    return tomllib.loads(text_of(it))


def filled(it, **values):
    """The claim, once what is open is filled in, which are these keys and no others."""
    text = text_of(it)
    for key, value in values.items():
        text, changed = re.subn(rf'^{key} = "\?"', f"{key} = {value}", text, flags=re.MULTILINE)
        assert changed == 1, key
    return parse_claim(tomllib.loads(text))


def survives_json(it):
    """A look travels as JSON: catches numbers of NumPy, and a field that is left behind."""
    import json
    from dataclasses import asdict

    look = asdict(look_at(it, "a.py:b"))
    said = Said.from_json(json.loads(json.dumps(look))["said"])
    return said.draft.text("a.py:b", look["called"]) == text_of(it)


# -- diffprivlib -------------------------------------------------------------------------------


def mechanism(name, **attributes):
    attributes = {"epsilon": 0.5, "delta": 0.0, "sensitivity": 1.0} | attributes
    return stand_in(f"diffprivlib.mechanisms.file.{name}", **attributes)


@pytest.mark.parametrize(
    ("it", "noise"),
    [
        (mechanism("Laplace"), "laplace:2"),
        (mechanism("LaplaceTruncated", lower=0, upper=30), "laplace:2;min=0;max=30"),
        (mechanism("Geometric", epsilon=0.25), "discrete-laplace:4"),
        (mechanism("GeometricTruncated", lower=0, upper=9), "discrete-laplace:2;min=0;max=9"),
        (mechanism("Gaussian", delta=1e-5, _scale=6.5), "gaussian:6.5"),
        (mechanism("GaussianAnalytic", delta=1e-5, _scale=3.0), "gaussian:3"),
        (mechanism("GaussianDiscrete", delta=1e-5, _scale=3.5), "discrete-gaussian:3.5"),
    ],
)
def test_noise_on_a_number_is_read_of_diffprivlib(it, noise):
    assert survives_json(it)
    claim = filled(it, adjacency='"add-remove"')
    assert str(claim.mechanism.noise) == noise
    assert (claim.privacy.epsilon, claim.privacy.delta) == (it.epsilon, it.delta)
    assert claim.mechanism.name == "noisy-count"


def test_delta_and_sensitivity_are_in_the_scale_of_laplace():
    """Holohan et al. (2015): 3 / (0.5 - log 0.99). Catches either left out."""
    claim = filled(mechanism("Laplace", delta=0.01, sensitivity=3.0), adjacency='"replace-one"')
    assert claim.mechanism.noise.family.scale == pytest.approx(
        3 / (0.5 - math.log(0.99)), rel=1e-15
    )
    assert (claim.mechanism.lower, claim.mechanism.upper) == (0.0, 3.0)


@pytest.mark.parametrize(
    ("name", "monotonic", "noise"),
    [
        ("Exponential", False, "gumbel:20"),
        ("Exponential", True, "gumbel:10"),
        ("PermuteAndFlip", False, "exponential:20"),
    ],
)
def test_a_selection_by_utility_is_a_noisy_argmax(name, monotonic, noise):
    """2 sensitivity / epsilon, half of it where utilities move alike (McKenna, Sheldon 2020)."""
    it = mechanism(name, epsilon=0.1, utility=[50, 30], monotonic=monotonic, measure=None)
    claim = filled(it, teachers=80, adjacency='"add-remove"')
    assert str(claim.mechanism.noise) == noise
    assert claim.mechanism.classes == 2


@pytest.mark.parametrize(
    ("it", "pair"),
    [
        (mechanism("Binary", value0="no", value1="yes"), ("no", "yes")),
        (mechanism("LaplaceBoundedDomain", sensitivity=2.0, lower=-1, upper=10), (-1, 1.0)),
        (mechanism("Snapping", sensitivity=5.0, lower=0, upper=3), (0, 3)),
        (mechanism("LaplaceBoundedNoise", delta=0.1), (0, 1.0)),
    ],
)
def test_a_mechanism_without_a_law_is_claimed_by_its_epsilon(it, pair):
    claim = filled(it)
    assert claim.privacy.epsilon == 0.5
    assert (claim.pairs[0].here, claim.pairs[0].there) == pair


@pytest.mark.parametrize("name", ["Vector", "ExponentialCategorical"])
def test_pairs_that_an_object_does_not_name_are_asked(name):
    assert unfilled_keys(claimed(mechanism(name))) == ["pairs"]


def test_a_scale_of_nothing_is_asked_after():
    it = mechanism("Laplace", sensitivity=0.0)
    assert {"mechanism.noise", "mechanism.upper"} <= {*unfilled_keys(claimed(it))}


def test_a_mechanism_that_somebody_derived_is_not_taken_for_its_base():
    it = stand_in("mine.Laplace", epsilon=1.0, delta=0.0, sensitivity=1.0)
    assert read_object(it) is None


# -- OpenDP ------------------------------------------------------------------------------------


def made(function, **given):
    return {"__function__": function, "__kwargs__": given}


def measurement(how, metric, measure="MaxDivergence", carried="f64", domain=None, cost=None):
    return stand_in(
        "opendp.mod.Measurement",
        __opendp_dict__=how,
        input_metric=metric,
        output_measure=measure,
        input_carrier_type=carried,
        input_domain=domain or SimpleNamespace(),
        map=cost or (lambda distance: distance / 2),
    )


@pytest.mark.parametrize(
    ("carried", "maker", "k", "noise"),
    [
        ("f64", "make_laplace", None, "laplace:2"),
        ("i32", "make_laplace", None, "discrete-laplace:2"),
        ("i32", "make_gaussian", None, "discrete-gaussian:2"),
        ("f64", "make_gaussian", -30, "gaussian:2;grid=2^-30"),
        ("f64", "make_laplace", 0, None),  # the grid is as wide as half the noise
        ("f32", "make_laplace", None, None),
    ],
)
def test_noise_on_a_number_is_read_of_opendp(carried, maker, k, noise):
    """Catches discrete noise claimed as continuous, and a grid that is left out."""
    pure = maker == "make_laplace"
    measure = "MaxDivergence" if pure else "ZeroConcentratedDivergence"
    how = made(maker, scale=2.0, k=k)
    it = measurement(how, "AbsoluteDistance(f64)", measure, carried)
    if noise is None:
        assert "mechanism.noise" in unfilled_keys(claimed(it))
        return
    claim = filled(it, adjacency='"add-remove"')
    assert str(claim.mechanism.noise) == noise
    assert (claim.privacy.epsilon == 0.5) if pure else (claim.privacy is None)


def test_zcdp_is_not_turned_into_an_epsilon():
    it = measurement(
        made("make_gaussian", scale=2.0), "AbsoluteDistance(f64)", "ZeroConcentratedDivergence"
    )
    assert "privacy" not in claimed(it)
    assert "ZeroConcentratedDivergence" in text_of(it)
    other = measurement(made("make_other"), "DiscreteDistance()", "ZeroConcentratedDivergence")
    assert claimed(other)["privacy"] == {"zcdp": 0.5}


def test_what_a_vector_costs_waits_for_the_adjacency():
    """1 by L1 under add-remove, 2 under replace-one: catches one of them taken for granted."""
    domain = SimpleNamespace(size=5)
    it = measurement(made("make_laplace", scale=2.0), "L1Distance(f64)", domain=domain)
    table = claimed(it)
    assert "privacy" not in table
    assert table["mechanism"]["cells"] == 5
    assert unfilled_keys(table) == ["mechanism.adjacency"]


def records(size=None, bounds=None):
    element = SimpleNamespace(carrier_type="f64", bounds=bounds)
    return SimpleNamespace(size=size, element_domain=element)


def chain(*steps, size=None, bounds=None):
    """Transformations, the last one first, and Laplace noise of scale 5."""
    noise = measurement(made("make_laplace", scale=5.0), "AbsoluteDistance(f64)")
    last, *others = [SimpleNamespace(__opendp_dict__=step) for step in steps]
    for other in others:
        both = made("make_chain_tt", transformation1=last, transformation0=other)
        last = SimpleNamespace(__opendp_dict__=both)
    how = made("make_chain_mt", measurement1=noise, transformation0=last)
    return measurement(how, "SymmetricDistance()", domain=records(size, bounds))


def test_a_clamped_sum_is_read():
    it = chain(made("make_sum"), made("make_clamp", bounds=(-1.0, 10.0)))
    assert survives_json(it)
    mechanism = filled(it).mechanism
    assert (mechanism.name, mechanism.lower, mechanism.upper) == ("noisy-sum", -1.0, 10.0)
    assert (str(mechanism.noise), mechanism.adjacency) == ("laplace:5", "add-remove")


def test_bounds_of_a_domain_are_no_clamp():
    """OpenDP sums what lies outside: catches bounds that nothing enforces."""
    table = claimed(chain(made("make_sum"), bounds=(0.0, 10.0)))
    assert unfilled_keys(table) == ["mechanism.lower", "mechanism.upper"]


@pytest.mark.parametrize(
    "it",
    [
        chain(made("make_sum"), made("make_other")),
        chain(made("make_mean"), size=10),
        chain(made("make_count"), made("make_filter")),
        measurement(made("make_geometric", scale=2.0, bounds=(0, 9)), "AbsoluteDistance(i32)"),
        measurement(None, "AbsoluteDistance(f64)"),  # as of an OpenDP that does not say
    ],
)
def test_what_opendp_does_otherwise_is_claimed_by_its_epsilon(it):
    table = claimed(it)
    assert table["mechanism"]["name"] == "any"
    assert unfilled_keys(table) == ["pairs"]


def test_data_of_a_known_size_differ_by_two():
    """Nobody is added where the size is known: catches the map at distance 1, nearly 0."""
    table = claimed(chain(made("make_mean"), size=10))
    assert table["privacy"]["epsilon"] == 1.0


# -- opacus ------------------------------------------------------------------------------------


def engine(history, data=range(500)):
    accountant = SimpleNamespace(history=history)
    return stand_in("opacus.privacy_engine.PrivacyEngine", accountant=accountant, dataset=data)


def test_a_history_is_a_claim_of_batches():
    it = engine([(1.2, 0.1, 20), (1.2, 0.1, 5)])
    assert survives_json(it)
    mechanism = filled(it).mechanism
    assert mechanism.model_dump(exclude_none=True) == {
        "name": "batches",
        "sampling": "poisson:0.1",
        "records": 500,
        "noise_multiplier": 1.2,
    }
    assert "queries = 25" in text_of(it)


@pytest.mark.parametrize("history", [[], [(1.2, 0.1, 5), (1.0, 0.1, 5)]])
def test_no_history_and_a_history_of_several_kinds_are_asked_after(history):
    table = claimed(engine(history, data=None))
    wanted = ["mechanism.sampling", "mechanism.records", "mechanism.noise_multiplier"]
    assert unfilled_keys(table) == wanted


# -- dp_accounting -----------------------------------------------------------------------------


def event(name, **attributes):
    return stand_in(f"dp_accounting.dp_event.{name}DpEvent", **attributes)


GAUSSIAN = event("Gaussian", noise_multiplier=1.1)


def times(inner, count):
    return event("SelfComposed", event=inner, count=count)


def test_poisson_sampled_steps_are_a_claim_of_batches():
    sampled = event("PoissonSampled", sampling_probability=0.01, event=GAUSSIAN)
    it = event("Composed", events=[times(sampled, 100), times(times(sampled, 5), 4)])
    assert survives_json(it)
    mechanism = filled(it, records=5000).mechanism
    assert (mechanism.sampling, mechanism.noise_multiplier) == ("poisson:0.01", 1.1)
    assert "queries = 120" in text_of(it)


def test_a_fixed_batch_names_its_records():
    it = event("SampledWithoutReplacement", source_dataset_size=900, sample_size=30, event=GAUSSIAN)
    assert (filled(it).mechanism.sampling, filled(it).mechanism.records) == ("fixed:30", 900)


def test_a_multiplier_is_no_scale():
    """It is over a sensitivity that the event does not say."""
    table = claimed(times(event("Laplace", noise_multiplier=2.0), 3))
    wanted = ["mechanism.name", "mechanism.noise", "mechanism.adjacency"]
    assert unfilled_keys(table) == wanted
    assert "queries = 3" in text_of(times(GAUSSIAN, 3))


def test_the_parameter_of_discrete_laplace_noise_is_one_over_its_scale():
    table = claimed(event("DiscreteLaplace", noise_parameter=0.25, sensitivity=1))
    assert table["mechanism"]["noise"] == "discrete-laplace:4.0"


@pytest.mark.parametrize(
    "it",
    [
        event("Composed", events=[GAUSSIAN, event("Laplace", noise_multiplier=2.0)]),
        event("SampledWithReplacement", source_dataset_size=9, sample_size=3, event=GAUSSIAN),
        event("PoissonSampled", sampling_probability=0.1, event=times(GAUSSIAN, 2)),
        event("SingleEpochTreeAggregation", noise_multiplier=1.0, step_counts=8),
    ],
)
def test_an_event_that_no_claim_says_is_shown(it):
    table = claimed(it)
    assert table["mechanism"]["name"] == table["mechanism"]["noise"] == "?"


def test_randomised_response_has_the_epsilon_of_its_odds():
    """A bucket is told with 1/2 + 1/4, each other one of two with 1/4: odds of 3."""
    table = claimed(event("RandomizedResponse", noise_parameter=0.5, num_buckets=2))
    assert table["privacy"]["epsilon"] == pytest.approx(math.log(3), rel=1e-15)


def test_rho_of_an_event_is_claimed_and_xi_is_not():
    assert claimed(event("ZCD", rho=0.5, xi=0.0))["mechanism"]["name"] == "?"  # of no such name
    zcdp = stand_in("dp_accounting.dp_event.ZCDpEvent", rho=0.5, xi=0.0)
    assert claimed(zcdp)["privacy"] == {"zcdp": 0.5}
    zcdp.xi = 0.1
    assert "privacy" not in claimed(zcdp)


@pytest.mark.parametrize("name", ["NonPrivate", "NoOp", "Unsupported"])
def test_an_event_that_promises_nothing_is_refused(name):
    with pytest.raises(TargetError, match=f"{name}DpEvent"):
        read_object(event(name))


# -- PipelineDP --------------------------------------------------------------------------------


def params(*metrics, noise="LAPLACE", **more):
    given = {
        "metrics": [SimpleNamespace(name=name) for name in metrics],
        "noise_kind": SimpleNamespace(name=noise, value=noise.lower()),
        "max_partitions_contributed": 3,
        "max_contributions_per_partition": 2,
        "max_contributions": None,
        "min_value": 0.0,
        "max_value": 10.0,
        "min_sum_per_partition": None,
        "max_sum_per_partition": None,
        "contribution_bounds_already_enforced": False,
        "perform_cross_partition_contribution_bounding": True,
        "partition_selection_strategy": SimpleNamespace(name="TRUNCATED_GEOMETRIC"),
        "pre_threshold": None,
        "post_aggregation_thresholding": False,
    }
    return stand_in("pipeline_dp.aggregate_params.AggregateParams", **given | more)


def accountant(finalized=True, **epsilons):
    specs = [SimpleNamespace(name=name, eps=eps, delta=1e-6) for name, eps in epsilons.items()]
    return stand_in(
        "pipeline_dp.budget_accounting.NaiveBudgetAccountant",
        mechanism_specs=specs,
        finalized=finalized,
        total_epsilon=sum(epsilons.values()),
        total_delta=1e-6,
    )


def test_scales_are_those_of_the_budget_that_each_metric_got():
    """L0 3, Linf 2: counts 6 / 1, users 3 / 0.5, sums up to 10 each 60 / 2."""
    it = (
        params("COUNT", "PRIVACY_ID_COUNT", "SUM"),
        accountant(Count=1.0, PrivacyIdCount=0.5, Sum=2.0),
    )
    assert survives_json(it)
    mechanism = filled(it, partitions='["a", "b"]').mechanism
    noises = {name: str(one.noise) for name, one in mechanism.aggregates.items()}
    assert noises == {"count": "laplace:6", "privacy-id-count": "laplace:6", "sum": "laplace:30"}
    assert (mechanism.max_partitions, mechanism.max_per_partition) == (3, 2)
    assert claimed(it)["privacy"]["epsilon"] == 3.5


def test_a_mean_has_the_noise_of_its_sum_about_the_middle():
    """Values less 5 are up to 5: 3 * 2 * 5 / 1.5 = 20; the count that is not released 6 / 1."""
    it = params("MEAN"), accountant(MeanCount=1.0, MeanSum=1.5)
    mean = filled(it, partitions='["a"]').mechanism.aggregates["mean"]
    assert (str(mean.noise), str(mean.count_noise), mean.centre) == ("laplace:20", "laplace:6", 5.0)


def test_private_partitions_take_the_selections_share():
    it = params("COUNT"), accountant(Count=1.0, PartitionSelection=2.0)
    selection = filled(it).mechanism.selection
    assert (selection.strategy, selection.epsilon) == ("truncated-geometric", 2.0)


@pytest.mark.parametrize(
    ("it", "left"),
    [
        (params("COUNT"), "aggregates.count.noise"),
        ((params("COUNT"), accountant(finalized=False, Count=1.0)), "aggregates.count.noise"),
        ((params("VARIANCE"), accountant(Variance=1.0)), "aggregates.variance.noise"),
        (
            (params("COUNT", contribution_bounds_already_enforced=True), accountant(Count=1.0)),
            "kept",
        ),
        (
            (
                params(
                    "SUM",
                    min_value=None,
                    max_value=None,
                    min_sum_per_partition=-5.0,
                    max_sum_per_partition=9.0,
                ),
                accountant(Sum=1.0),
            ),
            "aggregates.sum.noise",
        ),
    ],
)
def test_what_parameters_do_not_say_is_asked(it, left):
    assert f"mechanism.{left}" in unfilled_keys(claimed(it))


# -- the command, and the libraries themselves -----------------------------------------------------

STAND_IN = """
import types
class Laplace(types.SimpleNamespace):
    __module__ = "diffprivlib.mechanisms.laplace"
    def randomise(self, value):
        import numpy as np
        return value + np.random.default_rng().laplace(0, 2)
noisy = Laplace(epsilon=0.5, delta=0.0, sensitivity=1.0)
class NonPrivateDpEvent:
    __module__ = "dp_accounting.dp_event"
nothing = NonPrivateDpEvent()
"""


@pytest.mark.slow("over half a second")
def test_a_claim_and_a_target_come_from_one_command(tmp_path, monkeypatch):
    """After one answer `verify` runs and passes: catches a target that does not fit its claim."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(STAND_IN)
    assert typed("init", "mine.py:noisy").returncode == 0
    begun = (tmp_path / "claim.toml").read_text()
    (tmp_path / "claim.toml").write_text(
        begun.replace('adjacency = "?"', 'adjacency = "add-remove"')
    )
    found = typed(
        "verify",
        "noisy_target.py:aggregate",
        "--claim",
        "claim.toml",
        "--check",
        "noise-scale",
        "--queries",
        "4000",
    )
    assert "laplace:2" in found.stdout
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.slow("over half a second")
def test_a_target_that_is_there_stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(STAND_IN)
    (tmp_path / "noisy_target.py").write_text("mine")
    made = typed("init", "mine.py:noisy")
    assert made.returncode == 0, made.stderr
    assert "noisy_target.py is there and stays as it is" in made.stdout
    assert (tmp_path / "noisy_target.py").read_text() == "mine"


@pytest.mark.slow("over half a second")
def test_an_event_without_a_promise_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(STAND_IN)
    assert_misuse(typed("init", "mine.py:nothing"), "mine.py:nothing", "NonPrivateDpEvent")


@pytest.mark.slow("importing OpenDP takes over half a second")
def test_opendp_says_what_the_stand_ins_say():
    """Of the library itself: catches an OpenDP whose description has changed."""
    dp = pytest.importorskip("opendp.prelude", reason="OpenDP is not installed")
    dp.enable_features("contrib", "idealized-numerics")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    clamped = space >> dp.t.then_clamp((0.0, 10.0)) >> dp.t.then_sum()
    mechanism = filled(clamped >> dp.m.then_laplace(scale=5.0)).mechanism
    assert (str(mechanism.noise), mechanism.lower, mechanism.upper) == ("laplace:5", 0.0, 10.0)
    whole = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    gaussian = dp.m.make_gaussian(*whole, scale=4.0)
    it = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian), delta=1e-6)
    assert filled(it, adjacency='"add-remove"').privacy.delta == 1e-6
    assert str(filled(it, adjacency='"add-remove"').mechanism.noise) == "discrete-gaussian:4"


@pytest.mark.slow("importing diffprivlib takes over half a second")
def test_diffprivlib_says_what_the_stand_ins_say():
    try:
        from diffprivlib import mechanisms
    except ImportError as error:  # as beside a scikit-learn that is too new for it
        pytest.skip(f"diffprivlib cannot be imported: {error}")
    it = mechanisms.Gaussian(epsilon=0.5, delta=1e-5, sensitivity=2)
    scale = filled(it, adjacency='"add-remove"').mechanism.noise.family.scale
    assert scale == pytest.approx(math.sqrt(2 * math.log(1.25e5)) * 2 / 0.5, rel=1e-12)


def test_dp_accounting_says_what_the_stand_ins_say():
    events = pytest.importorskip("dp_accounting", reason="dp_accounting is not installed")
    step = events.PoissonSampledDpEvent(0.01, events.GaussianDpEvent(1.1))
    it = events.SelfComposedDpEvent(step, 1000)
    assert filled(it, records=5000).mechanism.sampling == "poisson:0.01"
    assert "queries = 1000" in text_of(it)


@pytest.mark.filterwarnings("ignore:Secure RNG turned off")
def test_opacus_says_what_the_stand_ins_say():
    opacus = pytest.importorskip("opacus", reason="opacus is not installed")
    it = opacus.PrivacyEngine(accountant="rdp")
    for _ in range(3):
        it.accountant.step(noise_multiplier=1.5, sample_rate=0.25)
    assert filled(it, records=40).mechanism.sampling == "poisson:0.25"


def test_pipeline_dp_says_what_the_stand_ins_say():
    pipeline_dp = pytest.importorskip("pipeline_dp", reason="PipelineDP is not installed")
    it = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.COUNT],
        max_partitions_contributed=3,
        max_contributions_per_partition=2,
    )
    assert claimed(it)["mechanism"]["max_partitions"] == 3
