"""Writes a checkpoint as GGUF (Q8_0 and Q4_0), checks the file against PyTorch, and writes greedy references."""

import argparse
import hashlib
import json
from pathlib import Path

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Quant
from gguf.quants import quantize
from tokenizers import Tokenizer

from card import into_marks, markdown
from gguf_file import load_policy, read_policy
from model import Policy, Shape
from tokenizer import CHAT_TEMPLATE, SPECIALS, load_tokenizer, merges_of

NAME = "files: written by scripts/policy/export.py"
LICENSE = "apache-2.0"
GREEDY_TOKENS = 40
END = SPECIALS.index("<|im_end|>")


def named_tensors(policy: Policy) -> dict[str, np.ndarray]:
    """The weights under llama's GGUF names, F32. Rows of q and k are already in the file's interleaved order."""
    s = policy.shape
    kv = s.kv_heads * s.head_dim
    ones = np.ones(s.width, np.float32)
    tensors = {"token_embd.weight": policy.embed.weight, "output_norm.weight": policy.gain}
    for i, layer in enumerate(policy.layers):
        q, k, v = layer.qkv.weight.split((s.width, kv, kv))
        gate, up = layer.gate_up.weight.chunk(2)
        tensors |= {
            f"blk.{i}.attn_norm.weight": ones, f"blk.{i}.attn_q.weight": q, f"blk.{i}.attn_k.weight": k,
            f"blk.{i}.attn_v.weight": v, f"blk.{i}.attn_output.weight": layer.out.weight,
            f"blk.{i}.ffn_norm.weight": ones, f"blk.{i}.ffn_gate.weight": gate, f"blk.{i}.ffn_up.weight": up,
            f"blk.{i}.ffn_down.weight": layer.down.weight,
        }
    return {k: t if isinstance(t, np.ndarray) else t.detach().numpy().copy() for k, t in tensors.items()}


def write_gguf(path: Path, policy: Policy, tokenizer: Tokenizer, tokenizer_path: Path, quant: Quant, name: str) -> None:
    s = policy.shape
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(name)
    writer.add_description("Plays household tasks as text: one thought and one action a turn.")
    writer.add_license(LICENSE)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0 if quant == Quant.Q8_0 else gguf.LlamaFileType.MOSTLY_Q4_0)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_vocab_size(s.vocab)
    writer.add_context_length(s.context)
    writer.add_embedding_length(s.width)
    writer.add_block_count(s.layers)
    writer.add_feed_forward_length(s.hidden)
    writer.add_head_count(s.heads)
    writer.add_head_count_kv(s.kv_heads)
    writer.add_rope_dimension_count(s.head_dim)
    writer.add_rope_freq_base(s.rope_base)
    writer.add_layer_norm_rms_eps(s.eps)
    pieces = [tokenizer.id_to_token(i) or f"[PAD{i}]" for i in range(s.vocab)]
    kinds = [gguf.TokenType.CONTROL if i < len(SPECIALS) else gguf.TokenType.NORMAL for i in range(s.vocab)]
    for i in range(tokenizer.get_vocab_size(), s.vocab):
        kinds[i] = gguf.TokenType.UNUSED
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(pieces)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges_of(tokenizer_path))
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(END)
    writer.add_pad_token_id(0)
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)
    for key, tensor in named_tensors(policy).items():
        if tensor.ndim == 1:
            writer.add_tensor(key, tensor)
        else:
            # The shared embedding is also the head, so the 4-bit file keeps it at 8 bits.
            kind = Quant.Q8_0 if key == "token_embd.weight" else quant
            writer.add_tensor(key, quantize(tensor, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def encode_turns(turns: list[dict], tokenizer: Tokenizer) -> tuple[str, list[int]]:
    """The chat template's text of the turns with the generation prompt, and its ids."""
    text = "".join(f"<|im_start|>{t['role']}\n{t['content']}<|im_end|>\n" for t in turns) + "<|im_start|>assistant\n"
    return text, tokenizer.encode(text, add_special_tokens=False).ids


def greedy(policy: Policy, ids: list[int]) -> tuple[list[int], float]:
    """Up to GREEDY_TOKENS argmax ids after a prompt, and the smallest gap between the two best logits on the way."""
    out, gap = list(ids), float("inf")
    while len(out) - len(ids) < GREEDY_TOKENS and (len(out) == len(ids) or out[-1] != END):
        best = policy.logits(out)[-1].topk(2)
        gap = min(gap, float(best.values[0] - best.values[1]))
        out.append(int(best.indices[0]))
    return out[len(ids) :], gap


def check(path: Path, policy: Policy, prompt: list[int]) -> dict:
    """How far the file's logits are from the F32 model's on a prompt."""
    a, b = policy.logits(prompt), read_policy(path).logits(prompt)
    kl = (a.log_softmax(-1).exp() * (a.log_softmax(-1) - b.log_softmax(-1))).sum(-1)
    return {
        "file": path.name, "bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "max_logit_difference": round(float((a - b).abs().max()), 4), "mean_kl_nats": round(float(kl.mean()), 6),
        "same_argmax": round(float((a.argmax(-1) == b.argmax(-1)).float().mean()), 4),
    }


def table(checks: list[dict]) -> str:
    """The files as Markdown."""
    return markdown([["file", "bytes", "sha256"], *([f"`{c['file']}`", f"{c['bytes']:,}", f"`{c['sha256']}`"] for c in checks)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--episodes", type=Path, required=True, help="JSONL whose first episodes give the prompts")
    parser.add_argument("--name", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--greedy", type=Path, help="where the greedy references go")
    args = parser.parse_args()
    torch.set_num_threads(1)
    policy, saved = load_policy(args.checkpoint), torch.load(args.checkpoint, weights_only=False, map_location="cpu")
    tokenizer = load_tokenizer(args.tokenizer)
    args.out.mkdir(parents=True, exist_ok=True)
    with args.episodes.open() as f:
        episodes = [json.loads(next(f)) for _ in range(10)]
    prompts = []
    for i, episode in enumerate(episodes):
        users = [j for j, t in enumerate(episode["turns"]) if t["role"] == "user"]
        # Ten prompts of growing history: the first has the task alone, the last up to nine answers.
        prompts.append(encode_turns(episode["turns"][: users[min(i, len(users) - 1)] + 1], tokenizer))
    checks = []
    for quant, suffix in ((Quant.Q8_0, "q8_0"), (Quant.Q4_0, "q4_0")):
        path = args.out / f"{args.name}-{suffix}.gguf"
        write_gguf(path, policy, tokenizer, args.tokenizer, quant, args.name)
        checks.append(check(path, policy, prompts[-1][1]))
    if checks[0]["same_argmax"] < 0.97:
        raise SystemExit(f"The Q8_0 file does not match the model: {checks[0]}")
    report = {"checks": checks, "parameters": sum(p.numel() for p in policy.parameters()), "tokens": saved["tokens"],
              "minutes": round(saved["minutes"], 1), "steps": saved["step"], "shape": saved["shape"]}
    (args.out / "export.json").write_text(json.dumps(report, indent=2) + "\n")
    print(json.dumps(report, indent=2))
    into_marks(args.out / "README.md", NAME, table(checks))
    if args.greedy:
        file_policy = read_policy(args.out / f"{args.name}-q8_0.gguf")
        rows = []
        for text, ids in prompts:
            out, gap = greedy(file_policy, ids)
            rows.append({"prompt": text, "prompt_ids": ids, "ids": out, "smallest_gap": round(gap, 4),
                         "text": tokenizer.decode(out, skip_special_tokens=False)})
            print(len(ids), round(gap, 3), rows[-1]["text"])
        args.greedy.parent.mkdir(parents=True, exist_ok=True)
        args.greedy.write_text(json.dumps({
            "about": "Greedy ids of the Q8_0 file, dequantised and run in PyTorch F32; made by scripts/policy/export.py. "
                     "smallest_gap is the least difference of the two best logits on the way.",
            "file": f"{args.name}-q8_0.gguf", "sha256": checks[0]["sha256"], "prompts": rows}) + "\n")


if __name__ == "__main__":
    main()
