"""Writes the reference splits of the tokenizer tests (pip install tokenizers).

Run from the repository root; the output e2e/fixtures/engine/pretokenize.json is committed.
"""

import json
import pathlib

from tokenizers import Regex, pre_tokenizers

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
# The expressions of the models' own tokenizer.json files.
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES
QWEN2 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES


def split(pattern):
    return pre_tokenizers.Split(Regex(pattern), "isolated")


BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
RULES = {
    "smollm": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), BYTE_LEVEL]),
    "gpt-2": BYTE_LEVEL,
    "llama-bpe": split(LLAMA3),
    "qwen2": split(QWEN2),
}

TEXTS = [
    "total:  42",
    "x\n\n  7",
    "size \u00bd or \u00b2",
    "",
    " ",
    "   \n \t\r\n  a",
    "I'll DON'T we'Re 'tis 's",
    "next\u0085line \u0085 end",
    "bom \ufeff\ufeff here \ufeff",
    "wow!\u0085 eh?\ufeff.",
    "thin\u2009space\u00a0nbsp\u3000ideographic",
    "\u180emongolian\u200bzero",
    "1234567 12.5e-3 \u2163 \u0665\u0666\u0667",
    "\u65e5\u672c\u8a9e\u30c6\u30b9\u30c8 abc\u4e2d\u6587",
    "e\u0301te\u0301 \u0915\u093f\u0924\u093e\u092c",
    "\U0001f642\U0001f469\u200d\U0001f469\u200d\U0001f467!",
    "if (x<=y) { return `${z}`; } // ok\r\n\r\n",
    "a_b-c.d/e\\f  g   h",
    "tabs\t\tand\nnewlines\r\nmixed \n \n",
    "\u0000\u0001 control",
    "put mug 1 in/on shelf 2",
]


def pieces(rule, text):
    return [text[a:b] for _, (a, b) in rule.pre_tokenize_str(text)]


out = {name: [{"text": t, "pieces": pieces(rule, t)} for t in TEXTS] for name, rule in RULES.items()}
path = pathlib.Path("e2e/fixtures/engine/pretokenize.json")
path.write_text(json.dumps(out, indent=1) + "\n")
