"""pipeline-dp on Apache Beam, in memory: counts, users and sums by partition; 1.5 s a release."""

import json
import tempfile
from pathlib import Path

import apache_beam as beam
import pipeline_dp
from served import serve_tables

METRIC = pipeline_dp.Metrics
PARAMS = {
    "metrics": [METRIC.COUNT, METRIC.PRIVACY_ID_COUNT, METRIC.SUM],
    "max_partitions_contributed": 3,
    "max_contributions_per_partition": 2,
    "min_value": 0,
    "max_value": 10,
    "noise_kind": pipeline_dp.NoiseKind.LAPLACE,
}
PUBLIC = ["a", "b", "c", "d", "e", "f"]
EXTRACTORS = pipeline_dp.DataExtractors(
    privacy_id_extractor=lambda row: row[0],
    partition_extractor=lambda row: row[1],
    value_extractor=lambda row: row[2],
)


def as_json(found):
    """A row of the table, as a line of the file that the pipeline writes."""
    key, numbers = found
    released = {
        "count": numbers.count,
        "privacy-id-count": numbers.privacy_id_count,
        "sum": numbers.sum,
    }
    return json.dumps({"partition": key, **released})


def table(rows):
    """One release: a pipeline of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        with beam.Pipeline(runner="FnApiRunner") as pipeline:
            budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=3.0, total_delta=1e-5)
            engine = pipeline_dp.DPEngine(budget, pipeline_dp.BeamBackend())
            params = pipeline_dp.AggregateParams(**PARAMS)
            found = engine.aggregate(
                pipeline | beam.Create(rows), params, EXTRACTORS, public_partitions=PUBLIC
            )
            budget.compute_budgets()
            written = beam.io.WriteToText(str(path), shard_name_template="")
            found | beam.Map(as_json) | written
        return [json.loads(line) for line in path.read_text().splitlines()]


serve_tables(table)
