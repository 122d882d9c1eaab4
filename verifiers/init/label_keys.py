"""The keys of a claim of labels, with what fits the answers."""

from dataclasses import replace

from ...reference.noise import FAMILIES
from .draft import Draft, Key
from .fits import DROP, NOT_SUCH, scale_text
from .labels import FEW, WIDE, LabelAnswers

_NAMES = {"gaussian": '"gnmax" (Gaussian)', "laplace": '"lnmax" (Laplace)'}
_OTHER = '"report-noisy-max" (any noise)'
_NOISE = Key("noise", None, "its family and scale, as gaussian:40")


def draft_labels(classes: Key, teachers: Key) -> Draft:
    """A draft of labels, for `fill_labels`."""
    return Draft(
        "labels, the class with most votes under noise",
        "labels",
        [
            Key("name", None, "gnmax, lnmax, confident-gnmax or report-noisy-max"),
            _NOISE,
            classes,
            teachers,
        ],
    )


def fill_labels(draft: Draft, answers: LabelAnswers) -> None:
    """Fits what was answered, as far as it goes, into the keys of a draft."""
    name, _, *others = draft.keys
    name, noise = _noise_keys(answers, name)
    screen: list[Key] = []
    if answers.refused:
        asked = "some labels were -1: does it refuse queries without consensus?"
        name = Key("name", None, asked)
        if answers.refuses_by_votes():
            screen = _screen_keys(answers)
            if noise.fitted:
                told = 'fits: "confident-gnmax", by its refusals (-1) and its labels'
                name = Key("name", None, "", told)
    draft.keys = [name, noise, *others, *screen]
    draft.asked.append(f"{answers.labels:,} labels of {len(answers.counts)} histograms")


def _noise_keys(answers: LabelAnswers, name: Key) -> tuple[Key, Key]:
    """The keys `name` and `noise`, with the families that fit, or why none does."""
    labels, why = answers.answered, _no_fit(answers)
    if why is not None:
        return name, replace(_NOISE, more=[why])
    families = ["gaussian"] if answers.refused else list(FAMILIES)
    fits = {family: answers.fit_noise(family) for family in families}
    ranked = sorted(fits, key=lambda family: -fits[family].log_likelihood)
    top = fits[ranked[0]]
    if top.high >= 0.5 * WIDE * answers.leads[1]:
        why = f"labels do not follow the votes, up to a lead of {answers.leads[1]:,}"
    elif answers.misfit(ranked[0], top.best) < NOT_SUCH:
        why = f"none of {', '.join(families)} fits {labels:,} labels"
    if why is not None:
        return name, replace(_NOISE, more=[f"{why}: is it a noisy argmax of histograms?"])
    alike = [f for f in ranked if fits[f].log_likelihood >= top.log_likelihood - DROP]
    noises = [scale_text(family, fits[family]) for family in alike]
    more = [f"fits as well: {', '.join(noises[1:])}"] if noises[1:] else []
    names = dict.fromkeys(_NAMES.get(family, _OTHER) for family in alike)
    text = " or ".join(names)
    return (
        Key("name", None, "", f"fitted, by the noise: {text}"),
        Key("noise", None, "", f"fitted to {labels:,} labels: {noises[0]}", more),
    )


def _no_fit(answers: LabelAnswers) -> str | None:
    """Why no noise can be fitted to labels; None where it can."""
    if answers.odd != ():
        return answers.out_of_range
    told = [counts[:-1] for counts in answers.counts.values() if counts[:-1].sum() > 1]
    if answers.answered < FEW or answers.leads[1] == 0:
        return "too few labels to fit anything"
    if all((counts > 0).sum() == 1 for counts in told):
        return (
            f"each histogram repeated one label, down to a lead of {answers.leads[0]}: is there "
            "noise? are answers kept (caching = true)?"
        )
    return None


def _screen_keys(answers: LabelAnswers) -> list[Key]:
    threshold, scale = answers.fit_refusals()
    return [
        Key("threshold", None, "", f"fitted to refusals: {threshold.text}"),
        Key(
            "threshold_noise",
            None,
            "",
            f"fitted to refusals: {scale_text('gaussian', scale)}",
        ),
    ]
