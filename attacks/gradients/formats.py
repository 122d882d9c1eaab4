"""Files of data sets that are not shipped here, in the form that each loader states.

Health, CREMA-D: CSV with a header, a row a record. CelebA, UTKFace: .npz of arrays. All of
Li et al. 2024, section 5.1.1.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .data import Records, Whole

HEALTH_SEX = ("F", "M", "U")
EMOTIONS = ("ANG", "HAP", "NEU", "SAD")
SPEAKER_SEX = ("Female", "Male")
CHEEKBONES = ("other", "high cheekbones")
ETHNICITIES = ("White", "Black", "Asian", "Indian")
AGES = (31, 61)


def health(path: Path) -> Records:
    """Heritage Health: numbers, CharlsonIndex (label: above 0) and Sex, one of F, M and U.

    A column for each feature that is used, numbers alone; MemberID, if it is there, is left out.
    """
    table = _table(path, ("CharlsonIndex", "Sex"))
    label = (_numbers(table[["CharlsonIndex"]], path)[:, 0] > 0.0).astype(np.int64)
    sex = _codes(table["Sex"], HEALTH_SEX, path)
    rest = table.drop(columns=["CharlsonIndex", "Sex", "MemberID"], errors="ignore")
    return Records(_numbers(rest, path), label, sex, HEALTH_SEX)


def crema_d(path: Path) -> Records:
    """CREMA-D: columns of EmoBase features, Emotion (ANG, HAP, NEU, SAD), Sex and ActorID.

    The label is the emotion, other emotions are left out, and users are the actors.
    """
    table = _table(path, ("Emotion", "Sex", "ActorID"))
    table = table[table["Emotion"].isin(EMOTIONS)]
    emotion = _codes(table["Emotion"], EMOTIONS, path)
    sex = _codes(table["Sex"], SPEAKER_SEX, path)
    _, actors = np.unique(table["ActorID"].to_numpy(str), return_inverse=True)
    rest = table.drop(columns=["Emotion", "Sex", "ActorID"])
    return Records(_numbers(rest, path), emotion, sex, SPEAKER_SEX, actors)


def celeba(path: Path) -> Records:
    """CelebA: images (n, 32, 32, 3) of uint8, smiling, high_cheekbones (n,) of 0, 1, identity (n,).

    The label is smiling; users are the identities.
    """
    images, parts = _arrays(path, ("smiling", "high_cheekbones", "identity"))
    smiling, cheekbones, identity = parts
    _, users = np.unique(identity, return_inverse=True)
    return Records(images, smiling, cheekbones, CHEEKBONES, users)


def utkface(path: Path) -> Records:
    """UTKFace: images (n, 32, 32, 3) of uint8, age in years (n,), ethnicity (n,), 0 to 4.

    The label is the age group, to 30, to 60, and above. Ethnicity 4, others, is left out.
    """
    images, (age, ethnicity) = _arrays(path, ("age", "ethnicity"))
    kept = np.flatnonzero(ethnicity < len(ETHNICITIES))
    group = np.digitize(age, AGES).astype(np.int64)
    return Records(images[kept], group[kept], ethnicity[kept], ETHNICITIES)


def _table(path: Path, needed: tuple[str, ...]) -> pd.DataFrame:
    table = pd.read_csv(path)
    if missing := [name for name in needed if name not in table.columns]:
        raise ValueError(f"{path}: no column {missing[0]}; expected {', '.join(needed)}")
    return table


def _codes(column: "pd.Series[str]", names: tuple[str, ...], path: Path) -> Whole:
    unknown = column[~column.isin(names)]
    if len(unknown):
        raise ValueError(
            f"{path}, row {unknown.index[0] + 2}: {column.name} {unknown.iloc[0]!r}; expected one "
            f"of {', '.join(names)}"
        )
    codes: Whole = column.map({name: code for code, name in enumerate(names)}).to_numpy(np.int64)
    return codes


def _numbers(table: pd.DataFrame, path: Path) -> NDArray[np.float32]:
    for name in table.columns:
        values = pd.to_numeric(table[name], errors="coerce")
        if values.isna().any():
            row = values.index[values.isna()][0]
            raise ValueError(
                f"{path}, row {row + 2}: {name} {table[name][row]!r}; expected a number"
            )
    numbers: NDArray[np.float32] = table.to_numpy(np.float32)
    return numbers


def _arrays(path: Path, needed: tuple[str, ...]) -> tuple[NDArray[np.float32], list[Whole]]:
    """Images (n, d) from 0 to 1, and the arrays named."""
    with np.load(path, allow_pickle=False) as file:
        if missing := [name for name in ("images", *needed) if name not in file]:
            raise ValueError(f"{path}: no array {missing[0]}; expected images, {', '.join(needed)}")
        images = file["images"]
        others = [file[name].astype(np.int64) for name in needed]
    if images.ndim != 4 or images.shape[1:] != (32, 32, 3) or images.dtype != np.uint8:
        raise ValueError(
            f"{path}: images {images.shape} of {images.dtype}; expected (n, 32, 32, 3) of uint8"
        )
    for name, values in zip(needed, others, strict=True):
        if values.shape != images.shape[:1]:
            raise ValueError(f"{path}: {name} {values.shape}; expected ({len(images)},)")
    return (images.reshape(len(images), -1) / 255.0).astype(np.float32), others
