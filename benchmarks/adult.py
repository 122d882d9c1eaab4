"""Adult, as the files that were published with Wang et al. 2022 have it."""

from pathlib import Path

import numpy as np

from dpassay.reference.ensembles.records import People, Task

_LEFT_OUT = ("education", "income")


def adult(folder: str | Path, hidden: tuple[str, str] = ("education", "Doctorate")) -> People:
    """Adult's records: who earns above 50,000 dollars; the attribute is to hold a PhD.

    folder: with the files adult_income_train.csv.gz and adult_income_test.csv.gz published with
    Wang et al. 2022 (32,724 and 8,059 people; the votes published with them are on the latter, in
    its order within PhD holders and others). Of their 11 features education is removed; numbers are
    scaled and words encoded by what the training records hold. hidden: the column and the value
    that make the attribute; education stays removed for others too, and so is that column. Needs
    pandas. Raises ValueError for files that are missing or others.
    """
    import pandas as pd
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    column, value = hidden
    tables = []
    for part in ("train", "test"):
        path = Path(folder) / f"adult_income_{part}.csv.gz"
        try:
            tables.append(pd.read_csv(path))
        except (OSError, EOFError, UnicodeDecodeError, pd.errors.ParserError) as error:
            reason = getattr(error, "strerror", None) or " ".join(str(error).split())
            raise ValueError(f"{path}: not read: {reason}") from error
        missing = {*_LEFT_OUT, column} - set(tables[-1].columns)
        if missing:
            raise ValueError(f"{path}: no column {min(missing)!r}: expected that of Wang et al.")
    train, test = tables
    features = [name for name in train if name not in {*_LEFT_OUT, column}]
    numbers = [name for name in features if pd.api.types.is_numeric_dtype(train[name])]
    words = [name for name in features if name not in numbers]
    scaler = StandardScaler().fit(train[numbers])
    encoder = OneHotEncoder(sparse_output=False, handle_unknown="ignore").fit(train[words])
    rows = [np.hstack([scaler.transform(t[numbers]), encoder.transform(t[words])]) for t in tables]
    labels = [t["income"].to_numpy(np.int64) for t in tables]
    names = ("up to 50,000", "above 50,000")
    task = Task("adult", rows[0], labels[0], rows[1], labels[1], 2, names)
    attribute = "PhD" if hidden == ("education", "Doctorate") else f"{column} {value}"
    return People(task, (test[column] == value).to_numpy(np.int64), attribute)
