"""`joint`: releases, and single numbers of them, come without noise as rarely as claimed."""

from ....evidence.power import MISSES
from ....findings.excluded import Excluded, would_show
from ....findings.finding import Finding
from ....findings.note import Note
from ..evidence.bare import BareEvidence, log_chance_of_bare, rarest_seen
from ..planning.asked import Draws
from .base import NumberCheck

_BY_BINOMIAL = "the binomial law of how many releases are bare, of all these inputs together"
_LISTED = 5  # numbers without noise that are named
_OF_RELEASES = Note("noise-missing-at-times", "some releases have no noise in any of their numbers")


class Joint(NumberCheck):
    """Wagers on whole releases without noise, since discrete noise is often 0 in one number."""

    id = "joint"
    wanted_draws = 2_000
    evidence: BareEvidence

    def begin(self) -> None:
        self.evidence = BareEvidence(self.noise, self.law.dimensions)

    def observe(self, draws: Draws) -> None:
        """All numbers of a release, however many there are."""
        self.evidence.observe(*draws.whole, draws.digits)
        self.draws += draws.whole[0].size

    def fail_finding(self) -> Finding:
        whole, (place, odds) = self.evidence.releases, self.evidence.barest
        if whole.log_e_value >= self.evidence.of_numbers:
            message = f"{whole.matches:,} of {whole.draws:,} releases came wholly without noise"
            odds = float(whole.log_ratios.max())
            bare = {"bare": whole.matches, "releases": whole.draws}
            return Finding.caused(message, _OF_RELEASES, odds, **bare)
        hits = self.evidence.hits[place]
        message = f"number {place} of a release is exact in {hits:,} of {whole.draws:,} releases"
        cause = f"number {place} of a release has no noise, always or now and then"
        bare = {"coordinate": place, "bare": int(hits), "releases": whole.draws}
        always, of_always = self.evidence.always
        if 1 < always.size < self.evidence.hits.size and of_always > odds:
            listed = ", ".join(map(str, always[:_LISTED])) + (
                ", ..." if always[_LISTED:].size else ""
            )
            cause, odds = f"{always.size:,} numbers of a release have no noise: {listed}", of_always
            bare["coordinates"] = int(always.size)
        return Finding.caused(message, Note("noise-missing-in-places", cause, bare), odds)

    @property
    def counted(self) -> int:
        """The least releases of a run until all checks pass, or fewer where fewer were seen."""
        return min(self.least, self.evidence.releases.draws or self.least)  # none before a run

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """By the least releases of a run, if so many were looked at."""
        # of the input at which a bare release is likeliest: clamped noise is often none
        answered = [one.exact for one in self.plan.inputs if one.role in self.roles]
        chance = max(log_chance_of_bare(self.noise, exact) for exact in answered)
        releases = self.counted
        seen = rarest_seen(chance, releases, self.log_threshold)
        if seen is None:
            return ()
        draws, sure = releases * self.law.dimensions, 1.0 - MISSES
        found = self.entry(
            _OF_RELEASES.code,
            {"share": seen},
            self.roles,
            draws,
            method=_BY_BINOMIAL,
            probability=sure,
        )
        return (found,)

    def pass_finding(self) -> Finding:
        excludes = self.excluded
        told = would_show(excludes) or "; no share of them up to a tenth would surely have shown"
        return Finding(
            f"in {self.evidence.releases.draws:,} releases none, nor one of their numbers, was "
            f"seen to come without noise oftener than the claim gives{told}",
            excludes=excludes,
        )
