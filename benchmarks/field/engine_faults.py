"""Public faults of engines: a row at the version where each lives, and one where it is mended."""

from .rows import Row

_OLD_PIPE, _PIPE = "pipeline-dp-0.2.1", "pipeline-dp-0.3.1"
_FIRST, _SECOND = "opendp-whitenoise-0.1.0.4", "opendp-whitenoise-0.1.2"
_BOUNDED, _NONE = """'{"lower": 0.0, "upper": 10.0}'""", "'{}'"
_BOUNDING, _SCALE = ("contribution-bounding",), ("noise-scale",)

FAULT_ROWS = (
    Row(
        _OLD_PIPE,
        "VECTOR_SUM, L1 norm 6",
        "pipelinedp_vector.py L1 6",
        "pipelinedp_vector_6",
        "#551: sums are clipped after users are added up",
        _BOUNDING,
    ),
    Row(
        _PIPE,
        "VECTOR_SUM, L1 norm 6",
        "pipelinedp_vector.py L1 6",
        "pipelinedp_vector_6",
        "#551 is mended (0.3.0)",
    ),
    Row(
        _OLD_PIPE,
        "VECTOR_SUM, L1 norm 30",
        "pipelinedp_vector.py L1 30",
        "pipelinedp_vector_30",
        "#552: the noise does not know the norm",
        _SCALE,
    ),
    Row(
        _PIPE,
        "VECTOR_SUM, L1 norm 30",
        "pipelinedp_vector.py L1 30",
        "pipelinedp_vector_30",
        "#552 is mended (0.3.0)",
    ),
    Row(
        _SECOND,
        "SUM(value), a column without bounds",
        f"whitenoise_table.py value 0 {_NONE}",
        "whitenoise_sum",
        "smartnoise-sdk #317: no noise is added",
        ("noise-law",),
    ),
    Row(
        _SECOND,
        "SUM(value), a column with bounds",
        f"whitenoise_table.py value 0 {_BOUNDED}",
        "whitenoise_sum",
        "no fault known of the sum",
    ),
    Row(
        _FIRST,
        "SUM(value + 1000)",
        f"whitenoise_table.py 'value + 1000' 1000 {_BOUNDED}",
        "whitenoise_expression",
        "smartnoise-sdk #201: bounds are of the column, not of the expression",
        _SCALE,
    ),
    Row(
        _FIRST,
        "SUM(value), its threshold",
        f"whitenoise_table.py value 0 {_BOUNDED}",
        "whitenoise_threshold",
        "smartnoise-sdk #204: Gaussian noise, and a threshold for Laplace noise",
        ("partition-release",),
    ),
    Row(
        "opendp-0.12.1",
        "sum by public keys, bounded by hand",
        "opendp_keys.py",
        "opendp_table_sum",
        "#2344: one draw for all keys without records",
        ("fresh-noise",),
    ),
    Row(
        "opendp-0.16.0",
        "sum by public keys",
        "opendp_table.py sum",
        "opendp_table_sum",
        "#2344 is mended",
    ),
)

FAULTS_LATER = (
    ("smartnoise-sdk", "#201", "mended in opendp-whitenoise 0.1.2, which refuses the query"),
    ("smartnoise-sdk", "#204", "0.1.2 has another formula; smartnoise-sql has Laplace noise"),
    ("smartnoise-sdk", "#317", "mended in smartnoise-sql 1.0.10, which refuses the query"),
    ("smartnoise-sdk", "#203", "already mended in 0.1.0.4, the first version with tables"),
    ("smartnoise-sdk", "#622", "a covariance of all records, no table by partition"),
    ("smartnoise-sdk", "#572", "a crash of approximate bounds, no release by partition"),
    (
        "opendp-whitenoise 0.1.0.1",
        "",
        "has no module for queries; it and 0.1.0.4 install without their dependencies alone",
    ),
    ("opendp-smartnoise 0.1.3.1", "#317", "installs, and lacks its native library"),
    ("opendp", "#2945", "is in [the field](field.md)"),
    ("tmlt.core 0.20.0, tmlt.analytics 0.21.0", "", "install; seconds a release: not judged"),
)
"""What is not in the table, and why: library, call, reason."""
