"""A language model as teacher: what is asked of it, how its answers are read, and kept.

What transformers does is shown on models made here, where the extra is installed: nothing is
downloaded.
"""

import logging
import re
import sqlite3
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from dpassay.attacks.private_prediction.prompting.causal_model import (
    CausalModel,
    LabelTokens,
    label_said,
)
from dpassay.attacks.private_prediction.prompting.language_model import (
    AnswerCache,
    LanguageModelTeacher,
    answer_key,
)
from dpassay.attacks.private_prediction.prompting.prompts import Prompt, rendered

NAMES = ("harbour", "kitchen", "meadow")
PROMPT = Prompt("the place of a note", NAMES, (("boats came in", 0),))


class Counting:
    """A language model that answers by the length of a text, and dies where it is told to."""

    def __init__(self, identity=("model", "1"), dies_at=None):
        self.identity, self.batches, self.dies_at = identity, [], dies_at

    def labels(self, texts, classes):
        if len(self.batches) == self.dies_at:
            raise KeyboardInterrupt
        self.batches.append(list(texts))
        return [len(text) % classes for text in texts]


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("2", 2),
        (" 1\n\nText: 0", 1),
        ("The number is 2.", 2),
        ("0 = harbour", 0),
        ("7, or rather 1", 1),  # no label is 7
        ("12", None),
        ("1.5 or 2", 2),
        ("-1", None),
        ("2.", 2),
        ("harbour", None),
        ("", None),
        ("\u0662", None),  # a digit, but none that was asked for
    ],
)
def test_the_first_whole_number_that_is_a_label_counts(answer, label) -> None:
    assert label_said(answer, 3) == label


def test_tokens_may_only_go_on_to_a_label_and_end_after_one() -> None:
    """Digit by digit, twelve classes: after 1 comes an end, 0 or 1; after 2 an end alone."""
    tokens = LabelTokens.of(lambda text: [ord(sign) for sign in text], 12, (7, 10))
    digits, space = [ord(sign) for sign in "0123456789"], ord(" ")
    assert tokens.allowed([]) == [space, *digits]
    assert tokens.allowed([space]) == digits
    assert tokens.allowed([ord("1")]) == [7, 10, *digits[:2]]
    assert tokens.allowed([space, ord("2")]) == [7, 10]
    assert tokens.allowed([ord("1"), 7]) == [7, 10]
    assert tokens.longest == 4  # a space, two digits, an end


def test_texts_are_asked_as_rendered_in_batches_and_each_once(tmp_path) -> None:
    """Catches a query asked twice, a batch left out, and answers that change places."""
    queries = ["a", "bb", "a", "cccc", "dd", "a"]
    texts = [rendered(PROMPT, query) for query in queries]
    model = Counting()
    for cache in (None, tmp_path / "answers"):
        model.batches.clear()
        labels = LanguageModelTeacher(model, cache, batch=2)(PROMPT, queries)
        assert model.batches == [[texts[0], texts[1]], [texts[3], texts[4]]]
        assert labels.tolist() == [len(text) % 3 for text in texts]


def test_a_run_that_was_ended_asks_only_what_was_not_answered(tmp_path) -> None:
    queries = [f"note {number:04}{'.' * number}" for number in range(7)]
    texts = [rendered(PROMPT, query) for query in queries]
    dying, cache = Counting(dies_at=2), tmp_path / "answers"
    with pytest.raises(KeyboardInterrupt):
        LanguageModelTeacher(dying, cache, batch=2)(PROMPT, queries)
    again = Counting()
    labels = LanguageModelTeacher(again, cache, batch=2)(PROMPT, queries)
    assert [text for batch in again.batches for text in batch] == texts[4:]
    assert labels.tolist() == [len(text) % 3 for text in texts]


def test_answers_of_another_model_revision_or_label_set_do_not_count(tmp_path) -> None:
    cache = tmp_path / "answers"
    for identity in (("model", "1"), ("model", "2"), ("mode", "l1")):
        model = Counting(identity)
        LanguageModelTeacher(model, cache)(PROMPT, ["a"])
        assert len(model.batches) == 1, identity
    keys = {answer_key(("m", "1"), 3, "t"), answer_key(("m", "1"), 4, "t")}
    keys |= {answer_key(("m", "13"), 3, "t"), answer_key(("m", "1"), 3, "u")}
    assert len(keys) == 4


def test_the_first_answer_kept_stays_and_many_are_found(tmp_path) -> None:
    cache = AnswerCache(tmp_path / "answers")
    many = {str(number): number % 5 for number in range(1203)}
    assert cache.kept(many) == many
    assert cache.kept({"3": 0, "new": 1}) == {"3": 3, "new": 1}
    assert cache.found([*many, "absent"]) == many


def test_two_processes_that_share_a_cache_have_the_same_votes(tmp_path) -> None:
    """The other one keeps its answer while this one waits for its own: catches a vote of each."""
    cache, identity = tmp_path / "answers", ("model", "1")

    class Overtaken(Counting):
        def labels(self, texts, classes):
            (own,) = super().labels(texts, classes)
            key = answer_key(identity, classes, texts[0])
            AnswerCache(cache).kept({key: (own + 1) % classes})
            return [own]

    first = LanguageModelTeacher(Overtaken(identity), cache)(PROMPT, ["a"])
    assert first == [(len(rendered(PROMPT, "a")) + 1) % 3]
    assert first == LanguageModelTeacher(Counting(identity), cache)(PROMPT, ["a"])


def test_a_file_that_is_no_cache_is_refused_and_left_alone(tmp_path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("not a database, but a text of some length" * 9)
    before = other.read_bytes()
    with pytest.raises(ValueError, match=r"^cache of .*notes\.txt: "):
        AnswerCache(other).found(["a"])
    assert other.read_bytes() == before
    table = tmp_path / "other.sqlite"
    with sqlite3.connect(table) as file:
        file.execute("CREATE TABLE answers (name TEXT)")
    file.close()
    with pytest.raises(ValueError, match=r"^cache of .* key$"):
        AnswerCache(table).found(["a"])


@pytest.mark.parametrize("reply", [[3], [-1], [None], []])
def test_a_reply_that_is_no_label_is_refused_and_not_kept(reply, tmp_path) -> None:
    class Replying(Counting):
        def labels(self, texts, classes):
            return reply

    cache = tmp_path / "answers"
    with pytest.raises(ValueError, match="language model"):
        LanguageModelTeacher(Replying(), cache)(PROMPT, ["a"])
    right = Counting()
    LanguageModelTeacher(right, cache)(PROMPT, ["a"])
    assert len(right.batches) == 1


def test_without_the_extra_one_line_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError) as missing:
        CausalModel.load("some/model")
    assert "needs torch" in str(missing.value)
    assert "pip install '.[language-model]'" in str(missing.value)
    assert "\n" not in str(missing.value)
    assert missing.value.name == "torch"


# From here on with transformers: tiny models, whose answers are known by how they are made.

SIGNS = [chr(code) for code in range(32, 127)]
END, LINE = "<end>", "\n"
VOCABULARY = {sign: place for place, sign in enumerate([END, LINE, *SIGNS])}


@pytest.fixture(scope="module")
def packages():
    """Of the extra; loading them may warn of what is theirs."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    logging.getLogger("transformers").setLevel(logging.ERROR)
    return torch, transformers


@pytest.fixture(scope="module")
def tokenizer(packages):
    """A token for each sign, as a tokenizer of transformers."""
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.models.WordLevel(VOCABULARY, unk_token="?")
    raw = tokenizers.Tokenizer(model)
    raw.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex(r"[\s\S]"), "isolated")
    raw.decoder = tokenizers.decoders.Fuse()
    return packages[1].PreTrainedTokenizerFast(tokenizer_object=raw, eos_token=END)


def bigrams(packages, follows):
    """GPT-2 whose next sign depends on the last alone; `follows` has (last, next): score.

    Embeddings are the unit vectors, attention and the layer behind it add nothing.
    """
    torch, transformers = packages
    size = len(VOCABULARY)
    shape = {"vocab_size": size, "n_embd": size, "n_layer": 1, "n_head": 1, "n_positions": 600}
    config = transformers.GPT2Config(
        **shape, tie_word_embeddings=False, bos_token_id=0, eos_token_id=0
    )
    model = transformers.GPT2LMHeadModel(config)
    with torch.no_grad():
        for weights in model.parameters():
            weights.zero_()
        model.transformer.wte.weight.copy_(torch.eye(size))
        model.transformer.ln_f.weight.fill_(1.0)
        for (last, following), score in follows.items():
            model.lm_head.weight[VOCABULARY[following], VOCABULARY[last]] = score
    return model


def of(packages, tokenizer, follows):
    return CausalModel(bigrams(packages, follows), tokenizer, "bigrams", "1")


LOADS = pytest.mark.slow("loads torch and transformers, where they are installed")


@LOADS
def test_an_answer_with_a_label_is_read(packages, tokenizer) -> None:
    """The model writes a space, 7, a comma, 2 and a line: 7 is no label of three, but of eight."""
    follows = {(":", " "): 2.0, (" ", "7"): 2.0, ("7", ","): 2.0, (",", "2"): 2.0, ("2", END): 2.0}
    model = of(packages, tokenizer, follows)
    assert model.labels(["Number:"], 3) == [2]
    assert model.labels(["Number:"], 8) == [7]


@LOADS
def test_where_an_answer_has_no_label_the_one_it_would_rather_write_counts(
    packages, tokenizer
) -> None:
    """It writes x for ever. Of the labels it likes 5 best, or 1 among three.

    Catches a vote for label 0, and the likeliest first sign taken for all of a label: of twelve,
    1 is followed by 0 rather than by an end.
    """
    follows = {(":", "x"): 9.0, ("x", "x"): 9.0, (":", "5"): 3.0, (":", "1"): 2.0, (":", "0"): 1.0}
    model = of(packages, tokenizer, follows)
    assert model.labels(["Number:"], 3) == [1]
    assert model.labels(["Number:"], 8) == [5]
    follows |= {(":", "1"): 4.0, ("1", "0"): 2.0, ("1", LINE): 1.0, ("1", "x"): 9.0}
    assert of(packages, tokenizer, follows).labels(["Number:"], 12) == [10]
    follows |= {("1", LINE): 3.0}
    assert of(packages, tokenizer, follows).labels(["Number:"], 12) == [1]


@LOADS
def test_a_batch_answers_as_each_text_alone(packages, tokenizer) -> None:
    """A random GPT-2 of three layers, which knows positions: catches padding on the right, padding
    that is attended to, and positions that count it. Scores differ by far more than rounding.
    """
    torch, transformers = packages
    torch.manual_seed(3)
    shape = {"n_embd": 48, "n_layer": 3, "n_head": 4, "n_positions": 600}
    config = transformers.GPT2Config(vocab_size=len(VOCABULARY), **shape, initializer_range=0.6)
    raw = transformers.GPT2LMHeadModel(config)
    raw.generation_config.eos_token_id = 0
    model = CausalModel(raw, tokenizer, "random", "1")
    texts = [rendered(PROMPT, "so" * length) for length in (1, 40, 3, 17, 0, 25, 9, 12)]
    alone = [model.labels([text], 12)[0] for text in texts]
    assert model.labels(texts, 12) == alone
    assert len(set(alone)) > 2


@LOADS
def test_settings_of_the_model_and_training_do_not_reach_the_answer(packages, tokenizer) -> None:
    """Catches sampling, a penalty for signs of the prompt, and dropout left on."""
    follows = {(":", "2"): 1.0, (":", "1"): 0.9, ("2", END): 1.0, ("1", END): 1.0}
    raw = bigrams(packages, follows)
    settings = raw.generation_config
    settings.do_sample, settings.temperature, settings.repetition_penalty = True, 50.0, 9.0
    raw.train()
    model = CausalModel(raw, tokenizer, "bigrams", "1")
    assert model.labels(["2 2 2 Number:"] * 20, 3) == [2] * 20


@LOADS
def test_a_chat_template_is_used(packages, tokenizer) -> None:
    """The turn ends in another sign than the text: only with the template the answer is 1."""
    follows = {(":", "0"): 3.0, (">", "1"): 3.0, ("0", END): 3.0, ("1", END): 3.0}
    model = of(packages, tokenizer, follows)
    assert model.labels(["Number:"], 3) == [0]
    plain = model.identity
    template = "{% for turn in messages %}<{{ turn.role }}>{{ turn.content }}{% endfor %}"
    template += "{% if add_generation_prompt %}<model>{% endif %}"
    tokenizer.chat_template = template
    try:
        assert model.labels(["Number:"], 3) == [1]
        assert model.identity != plain  # kept answers are not mixed
    finally:
        tokenizer.chat_template = None


@LOADS
def test_a_model_in_a_folder_is_loaded_and_votes(packages, tokenizer, tmp_path) -> None:
    """From the files to the vote, and a second time from the cache, which asks nothing."""
    follows = {(":", " "): 2.0, (" ", "2"): 2.0, ("2", END): 2.0}
    bigrams(packages, follows).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    with pytest.raises(ValueError, match=r"^revision '' of '.*': "):
        CausalModel.load(str(tmp_path / "model"), device="cpu")
    model = CausalModel.load(str(tmp_path / "model"), "mine", device="cpu")
    assert model.identity[:2] == (str(tmp_path / "model"), "mine")
    cache = tmp_path / "answers"
    queries = ["boats came in", "flour"]
    assert LanguageModelTeacher(model, cache)(PROMPT, queries).tolist() == [2, 2]

    class Silent:
        identity: ClassVar = model.identity

    assert LanguageModelTeacher(Silent(), cache)(PROMPT, queries).tolist() == [2, 2]


@LOADS
def test_what_cannot_be_asked_is_refused_in_one_line(packages, tokenizer, tmp_path) -> None:
    model = of(packages, tokenizer, {})
    too_long = "a prompt of 595 tokens, and an answer of 8: 'bigrams' takes 600"
    with pytest.raises(ValueError, match=f"^{re.escape(too_long)}$"):
        model.labels(["Number:", "x" * 595], 3)
    absent = str(Path(tmp_path) / "absent")
    with pytest.raises(ValueError, match=f"^language model {re.escape(repr(absent))}: .*$"):
        CausalModel.load(absent, "1")
    endless = bigrams(packages, {})
    endless.generation_config.eos_token_id = None
    tokenizer.eos_token = None
    try:
        with pytest.raises(ValueError, match=r"^language model 'x'.*token"):
            CausalModel(endless, tokenizer, "x", "1")
    finally:
        tokenizer.eos_token = END
