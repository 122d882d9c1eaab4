"""The rows of engines: what each documents, and what is publicly known of it."""

from .rows import Row

_PIPE, _SMART = "pipeline-dp-0.3.1", "smartnoise-sql-1.0.10"
_DP, _HAND = "opendp-0.16.0", "by-hand-0"
_PANDAS, _DIFF = "pandas-2.2.3", "diffprivlib-0.6.6"
_CORRECT = "no fault known"
_SLOW = 450  # releases that a run is planned for, where one takes seconds
_BOUNDING = ("contribution-bounding",)
_PAIRS = '"max_partitions_contributed": null, "max_contributions_per_partition": null'

ENGINE_ROWS = (
    Row(
        _PIPE,
        "aggregate, public partitions",
        "pipelinedp_table.py",
        "pipelinedp_public",
        _CORRECT,
    ),
    Row(
        _PIPE,
        "aggregate, private partitions",
        """pipelinedp_table.py '{"public": false, "epsilon": 4.0}'""",
        "pipelinedp_private",
        _CORRECT,
    ),
    Row(
        _PIPE,
        "aggregate with max_contributions",
        "pipelinedp_table.py "
        f"""'{{"metrics": ["count"], "epsilon": 1.0, "max_contributions": 4, {_PAIRS}}}'""",
        "pipelinedp_rows",
        _CORRECT,
    ),
    Row(
        _PIPE,
        "aggregate with max_sum_per_partition, claimed as clipping of values",
        "pipelinedp_table.py "
        """'{"min_value": null, "max_value": null, "min_sum_per_partition": 0, """
        """"max_sum_per_partition": 20}'""",
        "pipelinedp_public",
        "it clips the sum of a user, as documented: another law than clipping each value",
        _BOUNDING,
    ),
    Row(
        _PIPE,
        "aggregate with MEAN and COUNT",
        """pipelinedp_table.py '{"metrics": ["count", "mean"]}'""",
        "pipelinedp_mean",
        _CORRECT,
    ),
    Row(
        _PIPE,
        "aggregate, values that are NaN",
        "pipelinedp_table.py",
        "pipelinedp_missing",
        "values are taken to be numbers; nothing is documented of NaN",
        _BOUNDING,
    ),
    Row(
        "pipeline-dp-beam-0.3.1",
        "aggregate on Beam, public partitions",
        "pipelinedp_beam.py",
        "pipelinedp_beam",
        _CORRECT,
        planned=_SLOW,
    ),
    Row(
        "tmlt-analytics-0.21.0",
        "count by public keys, MaxGroupsPerID and MaxRowsPerGroupPerID",
        "tmlt_table.py",
        "tmlt_table",
        _CORRECT,
        planned=_SLOW,
    ),
    Row(_SMART, "SUM by group", "smartnoise_table.py sum", "smartnoise_sum", _CORRECT),
    Row(
        _SMART,
        "COUNT by group",
        "smartnoise_table.py count",
        "smartnoise_count",
        "counts are cut to whole numbers (read in the source)",
        ("noise-law",),
    ),
    Row(
        _SMART,
        "COUNT by group, claimed as cut",
        "smartnoise_table.py count",
        "smartnoise_count_cut",
        "counts are cut to whole numbers (read in the source)",
    ),
    Row(
        _SMART,
        "SUM by group, sample_max_ids off",
        """smartnoise_table.py sum '{"sample_max_ids": false}'""",
        "smartnoise_sum",
        "the option leaves out the bounding, as documented",
        _BOUNDING,
    ),
    Row(_DP, "sum by public keys", "opendp_table.py sum", "opendp_table_sum", "#2344 is fixed"),
    Row(_DP, "dp.len() by public keys", "opendp_table.py count", "opendp_table_count", _CORRECT),
    Row(
        "opendp-0.12.1",
        "sum by public keys, bounded by hand",
        "opendp_keys.py",
        "opendp_table_sum",
        "#2344: one draw for all keys without records",
        ("fresh-noise",),
    ),
    Row(
        _DIFF,
        "Laplace, sums by hand",
        "diffprivlib_table.py mechanism",
        "diffprivlib_table",
        "right",
    ),
    Row(
        _DIFF,
        "tools.sum by partition",
        "diffprivlib_table.py tools",
        "diffprivlib_table",
        "sums are held within the bounds that the number of records gives",
        ("noise-law",),
    ),
    Row(_PANDAS, "groupby, two steps", "pandas_table.py", "sql_table", "right"),
    Row(
        _PANDAS,
        "groupby, head of rows as they come",
        "pandas_table.py head",
        "sql_table",
        "not uniform: the first are kept",
        _BOUNDING,
    ),
    Row(
        _PANDAS,
        "groupby, rows of a user in each partition alone",
        "pandas_table.py partitions",
        "sql_table",
        "wrong as written",
        _BOUNDING,
    ),
    Row(
        _PANDAS,
        "drop_duplicates of rows",
        "pandas_table.py duplicates",
        "sql_table",
        "wrong as written",
        _BOUNDING,
    ),
    Row(_HAND, "sqlite, three steps", "sql_table.py", "sql_table", "right"),
    Row(
        _HAND,
        "sqlite, contributions not bounded",
        "sql_table.py bounds",
        "sql_table",
        "wrong as written",
        _BOUNDING,
    ),
    Row(
        _HAND,
        "sqlite, values not clipped",
        "sql_table.py clip",
        "sql_table",
        "wrong as written",
        _BOUNDING,
    ),
    Row(
        _HAND,
        "sqlite, GROUP BY without the list of partitions",
        "sql_table.py empty",
        "sql_table",
        "wrong as written",
        ("empty-partitions",),
    ),
    Row(
        _HAND,
        "sqlite, noise for one partition",
        "sql_table.py partitions",
        "sql_table",
        "wrong as written",
        ("noise-scale",),
    ),
)

ENGINES_LATER = (
    ("pipeline-dp 0.2.1", "VECTOR_SUM, #551, #552", "are [found again](engine-faults.md)"),
    ("smartnoise-sdk", "VARIANCE, #203", "made of another quotient than a claim names"),
    ("smartnoise-sdk", "covariance, #622", "no table by partition"),
    ("smartnoise-sdk", "column without bounds, #317", "1.0.10 refuses the query: mended"),
    ("PipelineDP on Spark", "", "the same engine as on Beam"),
    ("SQLite, DuckDB, PostgreSQL", "", "a query is the claim's own: `[sql]`"),
)
"""What is not in the table, and why: library, call, reason."""
