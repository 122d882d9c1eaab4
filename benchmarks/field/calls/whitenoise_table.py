"""opendp-whitenoise: a grouped sum; words: the expression, what it adds, and bounds as JSON."""

import json
import tempfile
import warnings
from sys import argv

import pandas as pd
import yaml
from opendp.whitenoise.metadata import CollectionMetadata
from opendp.whitenoise.sql import PandasReader, PrivateReader
from served import serve_tables

warnings.simplefilter("ignore")
EXPRESSION, ADDED = argv[1], float(argv[2])
BOUNDS = json.loads(argv[3]) if argv[3:] else {"lower": 0.0, "upper": 10.0}
TABLE = {
    "max_ids": 3,
    "row_privacy": False,
    "user": {"type": "int", "private_id": True},
    "part": {"type": "string"},
    "value": {"type": "float", **BOUNDS},
}
QUERY = f"SELECT part, SUM({EXPRESSION}) AS n FROM db.t GROUP BY part"


def metadata():
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump({"": {"db": {"t": TABLE}}}, file)
        file.flush()
        return CollectionMetadata.from_file(file.name)


METADATA = metadata()


def table(rows):
    """One release; the column holds what the expression adds its part to."""
    frame = pd.DataFrame(rows, columns=["user", "part", "value"])
    frame["value"] -= ADDED
    reader = PrivateReader(METADATA, PandasReader(METADATA, frame), 1.0, 1e-5)
    reader.options.use_dpsu = False  # it asks pandas for what later versions of it do not do
    return [{"partition": str(key), "sum": float(n)} for key, n in reader.execute(QUERY)[1:]]


serve_tables(table)
