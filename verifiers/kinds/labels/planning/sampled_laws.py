"""Laws of labels of aggregators that draw the teachers of an answer in another way than claimed."""

from collections.abc import Iterator
from dataclasses import replace

from .....reference import NoisyArgmax, SampledArgmax, Sampling
from .....reference.sampling import Way
from ....findings.note import Note
from ..mechanism import LabelsMechanism
from .laws import Law, mechanism_law

_WAYS = {
    Way.POISSON: "each teacher drawn apart from the others",
    Way.FIXED: "a fixed number of different teachers drawn",
    Way.WITH_REPLACEMENT: "teachers drawn with replacement",
}


def sampling_laws(claim: LabelsMechanism) -> Iterator[tuple[Note, Law]]:
    """Faults of a claim with `sampled`, as words after "labels fit ...", each with its law."""
    mechanism = claim.mechanism()
    if not isinstance(mechanism, SampledArgmax):
        return
    sampling, noise, teachers = mechanism.sampling, mechanism.noise, claim.teachers
    share = sampling.amount if sampling.drawn is None else sampling.amount / teachers
    yield (
        Note("teachers-not-sampled", "the votes of all teachers, of whom none were drawn"),
        mechanism_law(NoisyArgmax(noise)),
    )
    scaled = "the votes of all teachers, scaled down to as many as are drawn"
    yield (
        Note("teachers-not-sampled", scaled, {"scaled_by": share}),
        mechanism_law(NoisyArgmax(noise.times(1.0 / share))),
    )
    for factor, words in (
        (share, "drawn votes scaled up to all teachers before the noise"),
        (share**0.5, "noise that shrinks with the square root of the share drawn"),
    ):
        note = Note("noise-scaled-by-sampling", words, {"factor": factor})
        yield note, mechanism_law(SampledArgmax(noise.times(factor), sampling))
    rest = "the teachers who were not drawn, in place of those drawn"
    shares = {1.0 - share: Note("other-teachers-sampled", rest)}
    for factor, words in ((0.5, "half as many teachers drawn"), (2.0, "twice as many drawn")):
        shares[factor * share] = Note("sampling-share-differs", words, {"factor": factor})
    others = [(note, _of(sampling.way, other, teachers)) for other, note in shares.items()]
    others += [
        (Note("sampling-way-differs", words, {"way": way.value}), _of(way, share, teachers))
        for way, words in _WAYS.items()
    ]
    for note, other in others:
        if other is not None and other != sampling:
            words = f"{note.message}, {other}"
            yield replace(note, message=words), mechanism_law(SampledArgmax(noise, other))


def _of(way: Way, share: float, teachers: int) -> Sampling | None:
    """The sampling of this share of the teachers; None where there is none."""
    amount = share if way is Way.POISSON else round(share * teachers)
    possible = 0.0 < amount < 1.0 if way is Way.POISSON else 1 <= amount <= teachers
    return Sampling(way, amount) if possible else None
