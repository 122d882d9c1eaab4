"""pipeline-dp: counts, users and sums by partition; words: the parameters that differ, as JSON."""

import json
import math
import sys

import pipeline_dp
from served import serve_tables

METRIC = pipeline_dp.Metrics
ASKED = {
    "count": METRIC.COUNT,
    "privacy-id-count": METRIC.PRIVACY_ID_COUNT,
    "sum": METRIC.SUM,
    "mean": METRIC.MEAN,
}
WORDS = json.loads(sys.argv[1]) if sys.argv[1:] else {}
EPSILON, DELTA = WORDS.pop("epsilon", 3.0), WORDS.pop("delta", 1e-5)
PUBLIC = ["a", "b", "c", "d", "e", "f"] if WORDS.pop("public", True) else None
NAMES = WORDS.pop("metrics", ["count", "privacy-id-count", "sum"])
BOUNDS = {
    "max_partitions_contributed": 3,
    "max_contributions_per_partition": 2,
    "min_value": 0,
    "max_value": 10,
    "noise_kind": pipeline_dp.NoiseKind.LAPLACE,
}
SETTING = {key: value for key, value in {**BOUNDS, **WORDS}.items() if value is not None}
EXTRACTORS = pipeline_dp.DataExtractors(
    privacy_id_extractor=lambda row: row[0],
    partition_extractor=lambda row: row[1],
    value_extractor=lambda row: math.nan if row[2] is None else row[2],
)


def table(rows):
    """One release."""
    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA)
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    params = pipeline_dp.AggregateParams(metrics=[ASKED[name] for name in NAMES], **SETTING)
    found = engine.aggregate(rows, params, EXTRACTORS, public_partitions=PUBLIC)
    budget.compute_budgets()
    return [
        {"partition": key, **{name: getattr(numbers, name.replace("-", "_")) for name in NAMES}}
        for key, numbers in found
    ]


serve_tables(table)
