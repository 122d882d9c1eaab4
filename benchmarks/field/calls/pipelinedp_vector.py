"""pipeline-dp: sums of vectors by partition; words: the norm, and the most that it may be."""

import sys

import pipeline_dp
from pipeline_dp import aggregate_params
from served import serve_tables

NORM, MOST = sys.argv[1], float(sys.argv[2])
PARAMS = pipeline_dp.AggregateParams(
    metrics=[pipeline_dp.Metrics.VECTOR_SUM],
    noise_kind=pipeline_dp.NoiseKind.LAPLACE,
    max_partitions_contributed=3,
    max_contributions_per_partition=2,
    vector_size=3,
    vector_norm_kind=getattr(aggregate_params.NormKind, NORM),
    vector_max_norm=MOST,
)
EXTRACTORS = pipeline_dp.DataExtractors(
    privacy_id_extractor=lambda row: row[0],
    partition_extractor=lambda row: row[1],
    value_extractor=lambda row: row[2],
)


def table(rows):
    """One release."""
    if not rows:
        raise ValueError("no rows: the engine takes some")
    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=2.0, total_delta=1e-5)
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    found = engine.aggregate(rows, PARAMS, EXTRACTORS)
    budget.compute_budgets()
    return [
        {"partition": key, "vector-sum": [float(x) for x in numbers.vector_sum]}
        for key, numbers in found
    ]


serve_tables(table)
