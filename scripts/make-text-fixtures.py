"""Writes the references of the tokenizer tests (pip install tokenizers sentencepiece).

Run from the repository root; the outputs e2e/fixtures/engine/{pretokenize,sentencepiece}.json are
committed.
"""

import io
import json
import pathlib

import sentencepiece
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


def sentence_piece():
    """A small BPE vocabulary trained here, as GGUF's keys hold it, with ids by SentencePiece itself."""
    words = ["the mug is on the shelf", "take mug 1 from shelf 2", "go to sinkbasin 1", "put it in/on",
             "look at the lamp", "then open the drawer and look", "na\u00efve caf\u00e9", "x = (y + 1)"]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(words * 20),
        model_writer=model,
        vocab_size=360,
        model_type="bpe",
        byte_fallback=True,
        add_dummy_prefix=True,
        remove_extra_whitespaces=False,
        normalization_rule_name="identity",
        allow_whitespace_only_pieces=True,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    sp = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    size = sp.get_piece_size()
    kind = lambda i: 2 if sp.is_unknown(i) else 3 if sp.is_control(i) else 6 if sp.is_byte(i) else 1
    metadata = {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": [sp.id_to_piece(i) for i in range(size)],
        "tokenizer.ggml.scores": [sp.get_score(i) for i in range(size)],
        "tokenizer.ggml.token_type": [kind(i) for i in range(size)],
        "tokenizer.ggml.unknown_token_id": sp.unk_id(),
        "tokenizer.ggml.bos_token_id": sp.bos_id(),
        "tokenizer.ggml.eos_token_id": sp.eos_id(),
    }
    texts = [t for t in TEXTS if t and "\u0000" not in t] + words + ["\u65e5\u672c \U0001f642", "  the  mug"]
    cases = [{"text": t, "ids": sp.encode(t)} for t in texts]
    path = pathlib.Path("e2e/fixtures/engine/sentencepiece.json")
    path.write_text(json.dumps({"metadata": metadata, "cases": cases}) + "\n")


sentence_piece()
