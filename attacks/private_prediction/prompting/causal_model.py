"""Causal language models by transformers, at temperature 0; they need the extra `language-model`.

The answer is decoded freely and greedily, and the first label in it counts. Where it has none, a
vote is needed nevertheless: decoding begins anew with only those tokens allowed that spell a label,
so that the vote is the label the model would rather write than any other. To count such answers for
label 0 would make votes of a class that nobody meant.
"""

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

Ids = list[int]
Allowed = Callable[[int, Any], Ids]

_WHOLE = re.compile(r"(?<![0-9.\-])[0-9]+(?![0-9]|\.[0-9])")


def label_said(answer: str, classes: int) -> int | None:
    """The first whole number of an answer that is a label, 0 to c - 1; None where there is none.

    A part of a longer number, a decimal one or a negative one is no label.
    """
    numbers = (int(found) for found in _WHOLE.findall(answer))
    return next((number for number in numbers if number < classes), None)


@dataclass(frozen=True)
class LabelTokens:
    """The token sequences that spell a label, with or without a space before it, and the ends.

    After a whole label only an end may follow, or what makes it another label: so 1 is told from
    10, which a model that writes digit by digit begins alike.
    """

    spelt: tuple[tuple[int, ...], ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, encode: Callable[[str], Sequence[int]], classes: int, ends: Sequence[int]) -> Self:
        """The tokens of the labels by a tokenizer's `encode`, which adds no special tokens."""
        labels = [f"{space}{label}" for label in range(classes) for space in ("", " ")]
        return cls(tuple(dict.fromkeys(tuple(encode(label)) for label in labels)), tuple(ends))

    @property
    def longest(self) -> int:
        """The most tokens that a label takes, its end among them."""
        return max(map(len, self.spelt)) + 1

    def allowed(self, written: Sequence[int]) -> list[int]:
        """The tokens that may follow those written so far; an end after an end."""
        begun = tuple(written)
        following = {
            spelt[len(begun)]
            for spelt in self.spelt
            if len(spelt) > len(begun) and spelt[: len(begun)] == begun
        }
        if begun in self.spelt or not following:
            following.update(self.ends)
        return sorted(following)


def _extra(name: str) -> Any:
    """A package of the extra; one line that says what to install where it is absent."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"a language model needs {error.name}, of the extra: "
            "pip install '.[language-model]' in the clone brings it",
            name=error.name,
        ) from None


@dataclass(frozen=True, eq=False)
class CausalModel:
    """A `LanguageModel`: a model and its tokenizer, as transformers loads them.

    name, revision: what its answers are kept under; the weights must be those of the revision.
    new_tokens: of an answer at most. The model is put into evaluation, and its own generation
    settings (sampling, penalties) are replaced by greedy decoding. A tokenizer's chat template is
    used if there is one. Raises ValueError for a tokenizer and model that know no end of text, and
    for texts that are longer than the model's context.
    """

    model: Any
    tokenizer: Any
    name: str
    revision: str
    new_tokens: int = 8

    def __post_init__(self) -> None:
        if self.new_tokens < 1:
            raise ValueError(f"new_tokens {self.new_tokens}: expected one or more")
        if not self.name or not self.revision:
            raise ValueError(
                f"revision {self.revision!r} of {self.name!r}: expected both, as answers are kept "
                "under them"
            )
        settings = self.model.generation_config
        stops = settings.eos_token_id
        if stops is None:
            stops = self.tokenizer.eos_token_id
        if stops is None:
            raise ValueError(f"language model {self.name!r}: no token that ends a text")
        stops = stops if isinstance(stops, list) else [stops]
        pad = self.tokenizer.pad_token_id
        self.model.eval()
        self.model.generation_config = type(settings)(
            do_sample=False,
            num_beams=1,
            eos_token_id=stops,
            pad_token_id=stops[0] if pad is None else pad,
        )

    @classmethod
    def load(
        cls, name: str, revision: str | None = None, device: str | None = None, new_tokens: int = 8
    ) -> Self:
        """A model of the Hugging Face hub, or a folder, on a device (the fastest there is).

        revision: a branch, tag or commit. Answers are kept under the commit, which transformers
        reports for a model of the hub; for a folder, under the revision, which has to be given.
        Raises ModuleNotFoundError, which says what to install, without the extra, and ValueError
        for what cannot be loaded.
        """
        torch, transformers = _extra("torch"), _extra("transformers")
        wanted = {} if revision is None else {"revision": revision}
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, **wanted)
            model = transformers.AutoModelForCausalLM.from_pretrained(name, **wanted)
        except (OSError, ValueError) as error:
            reason = str(error).strip().partition("\n")[0]
            raise ValueError(f"language model {name!r}: {reason}") from None
        commit = getattr(model.config, "_commit_hash", None)
        model.to(device or _fastest(torch))
        return cls(model, tokenizer, name, commit or revision or "", new_tokens)

    @property
    def identity(self) -> tuple[str, ...]:
        """Name, revision, precision, chat template or none, and the length of answers."""
        template = str(getattr(self.tokenizer, "chat_template", None))
        return self.name, self.revision, str(self.model.dtype), template, str(self.new_tokens)

    def labels(self, texts: Sequence[str], classes: int) -> list[int]:
        """One label from 0 to c - 1 for each text, all texts in one batch."""
        asked = [self._encoded(text) for text in texts]
        tokens = self._label_tokens(classes)
        self._check_lengths(asked, max(self.new_tokens, tokens.longest))
        found = [
            label_said(self._decoded(answer), classes)
            for answer in self._continued(asked, self.new_tokens)
        ]
        silent = [place for place, label in enumerate(found) if label is None]
        if silent:
            spelt = self._spelt([asked[place] for place in silent], tokens)
            for place, answer in zip(silent, spelt, strict=True):
                found[place] = label_said(self._decoded(answer), classes)
        return [label for label in found if label is not None]

    def _encoded(self, text: str) -> Ids:
        if getattr(self.tokenizer, "chat_template", None):
            turn = [{"role": "user", "content": text}]
            text = self.tokenizer.apply_chat_template(
                turn, tokenize=False, add_generation_prompt=True
            )
            return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
        return list(self.tokenizer(text)["input_ids"])

    def _decoded(self, answer: Ids) -> str:
        return str(self.tokenizer.decode(answer, skip_special_tokens=True))

    def _label_tokens(self, classes: int) -> LabelTokens:
        def encode(text: str) -> Ids:
            return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

        # models that were not trained on turns end an answer by a line, not by the end of the text
        ends = [*self.model.generation_config.eos_token_id, *encode("\n")[-1:]]
        return LabelTokens.of(encode, classes, ends)

    def _spelt(self, asked: list[Ids], tokens: LabelTokens) -> list[Ids]:
        start = max(map(len, asked))  # all are padded on the left to the longest

        def allowed(_: int, ids: Any) -> Ids:
            return tokens.allowed(ids[start:].tolist())

        return self._continued(asked, tokens.longest, allowed)

    def _continued(
        self, asked: list[Ids], new_tokens: int, allowed: Allowed | None = None
    ) -> list[Ids]:
        """The tokens that follow each text, by greedy decoding."""
        torch = _extra("torch")
        settings = self.model.generation_config
        longest = max(map(len, asked))
        ids = torch.full((len(asked), longest), settings.pad_token_id, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, text in enumerate(asked):  # on the left: answers begin where the texts end
            ids[row, longest - len(text) :] = torch.tensor(text)
            mask[row, longest - len(text) :] = 1
        written = self.model.generate(
            input_ids=ids.to(self.model.device),
            attention_mask=mask.to(self.model.device),
            max_new_tokens=new_tokens,
            prefix_allowed_tokens_fn=allowed,
        )
        return [row[longest:].tolist() for row in written]

    def _check_lengths(self, asked: list[Ids], new_tokens: int) -> None:
        room = getattr(self.model.config, "max_position_embeddings", None)
        longest = max(map(len, asked))
        if room is not None and longest + new_tokens > room:
            raise ValueError(
                f"a prompt of {longest} tokens, and an answer of {new_tokens}: "
                f"{self.name!r} takes {room}"
            )


def _fastest(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
