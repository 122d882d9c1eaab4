"""PromptPATE's teachers: prompts, what adversaries put into them, and models that read them.

`prompts` is a teacher, `teachers` how many of them vote, `adversaries` the prompts of an attack.
Whatever answers a prompt is a model: `in_context` a classifier over features or over text
(`text_features`); `language_model` one of transformers (`causal_model`), whose answers are read as
labels (`label_answers`) and kept on disk (`answer_cache`).
"""
