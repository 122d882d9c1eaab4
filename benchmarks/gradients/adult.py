"""The Adult records as Wang et al. published them: 48,842 in three files, gender the sensitive.

Columns: age, workclass, education, marital_status, relationship, occupation, race, gender,
capital_gain, capital_loss, hours_per_week, income. The census' own file has native country, years
of education and sampling weight besides, and finer workclasses, education, marital status and
occupations.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from .data import Records

FILES = tuple(f"adult_income_{part}.csv.gz" for part in ("train", "test", "attack"))
MEASURED = ("age", "capital_gain", "capital_loss", "hours_per_week")
NAMED = ("workclass", "education", "marital_status", "relationship", "occupation", "race")
SEX = ("Male", "Female")
ENCODINGS = ("one-hot", "label")


def adult(
    folder: Path, encoding: str = "one-hot", *, sex: bool = False, without: tuple[str, ...] = ()
) -> Records:
    """The records in `folder`; the label is the income, the sensitive class 0 men, 1 women.

    encoding: of named columns, a column for each of their values, or one with their place in the
    alphabet; sex: whether the features have it, as for attribute inference; without: columns left
    out. Raises ValueError for an unknown encoding or column, and FileNotFoundError.
    """
    if encoding not in ENCODINGS:
        raise ValueError(f"encoding {encoding!r}: expected one of {', '.join(ENCODINGS)}")
    if unknown := set(without) - {*MEASURED, *NAMED}:
        allowed = ", ".join((*MEASURED, *NAMED))
        raise ValueError(f"column {min(unknown)!r}: expected one of {allowed}")
    table = pd.concat([pd.read_csv(folder / name) for name in FILES], ignore_index=True)
    women = (table["gender"] == SEX[1]).to_numpy()
    columns = [table[name].to_numpy(float)[:, None] for name in MEASURED if name not in without]
    for name in NAMED:
        if name not in without:
            values, codes = np.unique(table[name].to_numpy(str), return_inverse=True)
            hot = encoding == "one-hot"
            columns.append(np.eye(len(values))[codes] if hot else codes[:, None])
    if sex:
        columns.append(women[:, None])
    return Records(
        np.column_stack(columns).astype(np.float32),
        table["income"].to_numpy(np.int64),
        women.astype(np.int64),
        SEX,
    )
