"""What a sampler claims: how batches are drawn, from how many records, and what it costs."""

from functools import cached_property
from typing import Literal, Self

from pydantic import Field, model_validator

from ....reference.batches import Batches
from ...claims.claim import Claim
from ...claims.tables import Fitted, Table
from ...targets.batches import BatchRelease


class BatchesMechanism(Table):
    """`[mechanism]`: how batches are drawn, and perhaps the noise that a step adds."""

    name: Literal["batches"]
    sampling: str
    records: int = Field(ge=2, le=10**8)
    noise_multiplier: float | None = Field(default=None, gt=0, le=1e4)
    fitted: Fitted = None

    @model_validator(mode="after")
    def _known(self) -> Self:
        """Raises ValueError for sampling that there is not."""
        Batches.parse(self.sampling, self.records)
        return self

    @cached_property
    def batches(self) -> Batches:
        """The claimed law."""
        return Batches.parse(self.sampling, self.records)


class BatchesClaim(Claim):
    """The claim of a sampler; `queries` of `[privacy]` are the steps of a training."""

    mechanism: BatchesMechanism

    @model_validator(mode="after")
    def _priced(self) -> Self:
        """Raises ValueError for what such a claim cannot say."""
        if self.privacy is not None and self.mechanism.noise_multiplier is None:
            raise ValueError("mechanism.noise_multiplier is missing: [privacy] is priced by it")
        if self.accountant is not None:
            raise ValueError("[accountant]: a sampler has no charges")
        return self

    @property
    def summary(self) -> str:
        return f"batches {self.mechanism.batches} of {self.mechanism.records:,} records"

    @cached_property
    def release(self) -> BatchRelease:
        """How batches travel."""
        return BatchRelease(self.mechanism.records)
