"""Reads a policy back from its GGUF file: shape, weights (dequantised) and tokenizer. Writing is export.py's part."""

import argparse
from pathlib import Path

import gguf
import jinja2
import numpy as np
import torch
from gguf.quants import dequantize
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from lora import read_lora
from model import Policy, Shape


def _field(reader: gguf.GGUFReader, key: str):
    field = reader.get_field(key)
    if field is None:
        raise ValueError(f"The file has no `{key}`; a policy written by export.py has it.")
    return field.contents()


def read_shape(reader: gguf.GGUFReader) -> Shape:
    heads, width = _field(reader, "llama.attention.head_count"), _field(reader, "llama.embedding_length")
    return Shape(
        vocab=_field(reader, "llama.vocab_size"), layers=_field(reader, "llama.block_count"), width=width, heads=heads,
        kv_heads=_field(reader, "llama.attention.head_count_kv"), hidden=_field(reader, "llama.feed_forward_length"),
        context=_field(reader, "llama.context_length"), rope_base=_field(reader, "llama.rope.freq_base"),
        eps=round(_field(reader, "llama.attention.layer_norm_rms_epsilon"), 12),
    )


def read_policy(path: Path, adapter: Path | None = None) -> Policy:
    """The file's weights, dequantised to F32: the inverse of export.py's layout up to the rounding of the blocks.

    An adapter is merged in. The gains of the layers' norms are folded into the matrices behind them.
    """
    reader = gguf.GGUFReader(path)
    shape = read_shape(reader)
    tensors = {t.name: torch.from_numpy(np.array(dequantize(t.data, t.tensor_type))) for t in reader.tensors}
    for name, change in (read_lora(adapter) if adapter else {}).items():
        tensors[name] += change
    policy = Policy(shape)
    state = {"embed.weight": tensors["token_embd.weight"], "gain": tensors["output_norm.weight"]}
    for i in range(shape.layers):
        block = {k.removeprefix(f"blk.{i}.").removesuffix(".weight"): v for k, v in tensors.items() if k.startswith(f"blk.{i}.")}
        attn, ffn = block["attn_norm"], block["ffn_norm"]
        state |= {
            f"layers.{i}.qkv.weight": torch.cat((block["attn_q"], block["attn_k"], block["attn_v"])) * attn,
            f"layers.{i}.out.weight": block["attn_output"],
            f"layers.{i}.gate_up.weight": torch.cat((block["ffn_gate"], block["ffn_up"])) * ffn,
            f"layers.{i}.down.weight": block["ffn_down"],
        }
    policy.load_state_dict(state)
    return policy.eval()


def read_gains(path: Path) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Each layer's norm gains before attention and before the SwiGLU, which read_policy folds away."""
    reader = gguf.GGUFReader(path)
    norms = {t.name: torch.from_numpy(np.array(t.data)) for t in reader.tensors if t.name.endswith("_norm.weight")}
    layers = range(read_shape(reader).layers)
    return [(norms[f"blk.{i}.attn_norm.weight"], norms[f"blk.{i}.ffn_norm.weight"]) for i in layers]


def load_policy(path: Path, adapter: Path | None = None) -> Policy:
    """A GGUF file's policy, with an adapter merged in where one is given; or a checkpoint's."""
    if path.suffix == ".gguf":
        return read_policy(path, adapter)
    saved = torch.load(path, weights_only=False, map_location="cpu")
    policy = Policy(Shape(**saved["shape"]))
    policy.load_state_dict(saved["model"])
    return policy.eval()


def chat_template(text: str) -> jinja2.Template:
    """A template as transformers runs it."""
    return jinja2.Environment(trim_blocks=True, lstrip_blocks=True).from_string(text)


def read_chat_template(path: Path) -> jinja2.Template:
    return chat_template(_field(gguf.GGUFReader(path), "tokenizer.chat_template"))


def read_tokenizer(path: Path) -> Tokenizer:
    """The file's byte-level BPE, as `tokenizers` runs it; cuts of GPT-2 and of SmolLM (GPT-2's, digits one by one)."""
    reader = gguf.GGUFReader(path)
    pieces, merges = _field(reader, "tokenizer.ggml.tokens"), _field(reader, "tokenizer.ggml.merges")
    pairs = [tuple(m.split(" ")) for m in merges]
    tokenizer = Tokenizer(models.BPE(vocab={p: i for i, p in enumerate(pieces)}, merges=pairs))
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    cuts = {"gpt-2": gpt2, "smollm": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), gpt2])}
    tokenizer.pre_tokenizer = cuts[_field(reader, "tokenizer.ggml.pre")]
    tokenizer.decoder = decoders.ByteLevel()
    kinds = _field(reader, "tokenizer.ggml.token_type")
    specials = [p for p, kind in zip(pieces, kinds, strict=True) if kind == gguf.TokenType.CONTROL]
    tokenizer.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in specials])
    return tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes a GGUF file's tokenizer as tokenizer.json.")
    parser.add_argument("--gguf", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    read_tokenizer(args.gguf).save(str(args.out))


if __name__ == "__main__":
    main()
