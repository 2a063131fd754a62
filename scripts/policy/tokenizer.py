"""The policy's byte-level BPE: trains it, loads it. Knows the text rule (GPT-2's), nothing of episodes' meaning."""

import json
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
"""Ids 0, 1, 2. `<|im_end|>` ends a turn and is the file's end token."""

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def train_tokenizer(texts: Iterable[str], vocab: int) -> Tokenizer:
    """A BPE of `vocab` tokens: the specials, all 256 bytes, then merges by frequency.

    GPT-2's cut keeps a space with the word or number after it, so ` cabinet` and ` 12` are one token each.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab,
        special_tokens=list(SPECIALS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        min_frequency=2,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def load_tokenizer(path: Path) -> Tokenizer:
    return Tokenizer.from_file(str(path))


def merges_of(path: Path) -> list[str]:
    """The merges of a saved tokenizer as `left right`, in order."""
    merges = json.loads(path.read_text())["model"]["merges"]
    return [m if isinstance(m, str) else " ".join(m) for m in merges]
