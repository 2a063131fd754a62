"""Writes the training references of the model families (pip install torch transformers peft gguf).

Each tiny GGUF under e2e/fixtures/families is read into transformers' own model of that family, gets a
LoRA by PEFT on every projection, and is trained for two steps; losses, cross entropies, gradients
and trained parameters are kept. Variants change how RoPE is stretched. Before that, the logits are
compared with families_logits.json, so that a wrong reading cannot become a reference.

Run from the repository root; writes families_training.json and rope_logits.json.
"""

import json
import pathlib

import numpy as np
import torch
from gguf import GGUFReader, dequantize
from peft import LoraConfig, get_peft_model
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

FIXTURES = pathlib.Path("e2e/fixtures/families")
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
RANK, ALPHA, RATE, STEPS, FIRST_LABEL = 2, 4, 0.01, 2, 6
ADAM = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8}
A_SCALE, B_SCALE = 0.05, 0.02

# GGUF's name of a layer's tensor -> transformers'.
LAYER = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
# Gemma normalises after attention and around the MLP as well, and numbers its norms otherwise.
GEMMA_LAYER = {
    **LAYER,
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}


def read(path):
    reader = GGUFReader(str(path))
    meta = {key: field.contents() for key, field in reader.fields.items()}
    tensors = {}
    for tensor in reader.tensors:
        values = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        tensors[tensor.name] = values.reshape([int(n) for n in reversed(tensor.shape)])
    return meta, tensors


def unpermute(rows, heads):
    """llama's converter interleaves the two halves of each head's rows; this puts them back."""
    out, inputs = rows.shape
    return rows.reshape(heads, out // heads // 2, 2, inputs).swapaxes(1, 2).reshape(out, inputs)


def build(path, scaling):
    """The transformers model of one GGUF file; `scaling` is a rope_parameters entry or None."""
    meta, tensors = read(path)
    arch = meta["general.architecture"]
    get = lambda key, default=None: meta.get(f"{arch}.{key}", default)
    heads, kv_heads = get("attention.head_count"), get("attention.head_count_kv")
    rope = {"rope_type": "default", "rope_theta": get("rope.freq_base"), **(scaling or {})}
    common = dict(
        vocab_size=tensors["token_embd.weight"].shape[0],
        hidden_size=get("embedding_length"),
        intermediate_size=get("feed_forward_length"),
        num_hidden_layers=get("block_count"),
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=get("attention.key_length"),
        max_position_embeddings=get("context_length"),
        rms_norm_eps=get("attention.layer_norm_rms_epsilon"),
        tie_word_embeddings="output.weight" not in tensors,
        attn_implementation="eager",
    )
    layer_names = GEMMA_LAYER if arch == "gemma3" else LAYER
    if arch == "gemma3":
        local = {"rope_type": "default", "rope_theta": 10_000.0}
        config = Gemma3TextConfig(
            **common,
            sliding_window=get("attention.sliding_window"),
            query_pre_attn_scalar=get("attention.key_length"),
            rope_parameters={"full_attention": rope, "sliding_attention": local},
        )
        model = Gemma3ForCausalLM(config)
    elif arch == "qwen2":
        model = Qwen2ForCausalLM(Qwen2Config(**common, rope_parameters=rope))
    elif arch == "qwen3":
        model = Qwen3ForCausalLM(Qwen3Config(**common, rope_parameters=rope))
    else:
        model = LlamaForCausalLM(LlamaConfig(**common, rope_parameters=rope))

    state = {}
    for name, values in tensors.items():
        if name == "rope_freqs.weight":
            continue
        if arch == "llama" and "attn_q.weight" in name:
            values = unpermute(values, heads)
        if arch == "llama" and "attn_k.weight" in name:
            values = unpermute(values, kv_heads)
        if arch == "gemma3" and name.endswith("norm.weight"):
            values = values - 1  # transformers stores the gain less one
        if name.startswith("blk."):
            _, layer, part, kind = name.split(".")
            state[f"model.layers.{layer}.{layer_names[part]}.{kind}"] = values
        else:
            state[{"token_embd.weight": "model.embed_tokens.weight",
                   "output_norm.weight": "model.norm.weight",
                   "output.weight": "lm_head.weight"}[name]] = values
    state = {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in state.items()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected, unexpected
    assert set(missing) <= {"lm_head.weight"}, missing
    model.tie_weights()
    if "rope_freqs.weight" in tensors:
        rotary = model.model.rotary_emb
        rotary.inv_freq = rotary.inv_freq / torch.from_numpy(tensors["rope_freqs.weight"])
    return model.eval().float()


def fill(model):
    """flat[i] = scale * sin(seed + 12.9898 i), seeds in the order of the parameters' names."""
    parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
    for seed, name in enumerate(sorted(parameters), start=1):
        p = parameters[name]
        i = np.arange(p.numel(), dtype=np.float64)
        scale = A_SCALE if "lora_A" in name else B_SCALE
        values = (scale * np.sin(seed + 12.9898 * i)).astype(np.float32)
        p.data.copy_(torch.from_numpy(values).reshape(p.shape))
    return parameters


def train(model, ids):
    """Two Adam steps as the training case says; everything that the tests compare."""
    config = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=TARGETS, lora_dropout=0.0)
    model = get_peft_model(model, config)
    parameters = fill(model)
    weights = [round(0.25 + 0.05 * i, 2) for i in range(len(ids) - FIRST_LABEL)]
    w = torch.tensor(weights)
    batch = torch.tensor([ids])

    def cross_entropy(m):
        logits = m(batch).logits[0, FIRST_LABEL - 1 : -1]
        return torch.nn.functional.cross_entropy(logits, batch[0, FIRST_LABEL:], reduction="none")

    optimiser = torch.optim.Adam(
        parameters.values(), lr=RATE, betas=(ADAM["beta1"], ADAM["beta2"]), eps=ADAM["eps"]
    )
    losses, gradients, ces = [], {}, []
    for step in range(STEPS + 1):
        optimiser.zero_grad()
        ce = cross_entropy(model)
        loss = (w * ce).sum() / w.sum()
        losses.append(loss.item())
        ces.append(ce.detach())
        if step == STEPS:
            break
        loss.backward()
        if step == 0:
            gradients = {n: numbers(p.grad) for n, p in parameters.items()}
        optimiser.step()
    return {
        "ids": ids,
        "first_label_index": FIRST_LABEL,
        "weights": weights,
        "target_modules": TARGETS,
        "r": RANK,
        "lora_alpha": ALPHA,
        "lr": RATE,
        "steps": STEPS,
        "init": {"b_scale": B_SCALE},
        "adam": {**ADAM, "weight_decay": 0},
        "losses": losses,
        "ce_before": numbers(ces[0]),
        "ce_after": numbers(ces[-1]),
        "grad_step1": gradients,
        "param_norm_after": {n: round(p.norm().item(), 7) for n, p in parameters.items()},
    }


def numbers(tensor):
    """Seven significant digits: more than float32 holds."""
    return [float(f"{x:.7g}") for x in tensor.detach().double().flatten().tolist()]


# Stretched variants: what the tests add to the file's metadata, and what transformers calls it.
ROPE = {
    "linear": ("qwen3", {"rope_type": "linear", "factor": 4.0}),
    "yarn": (
        "qwen3",
        {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32},
    ),
}


def main():
    torch.set_num_threads(1)
    expected = json.loads((FIXTURES / "families_logits.json").read_text())
    training, stretched = {}, {}
    for name in ("qwen2", "qwen3", "llama3rope", "gemma3"):
        ids = expected[name]["ids"]
        model = build(FIXTURES / f"tiny_{name}.gguf", None)
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0]
        error = (logits - torch.tensor(expected[name]["logits"])).abs().max().item()
        print(f"{name}: logits differ by {error:.2g}")
        assert error < 1e-4, "the model was not read as the reference was"
        training[name] = train(model, ids)
        print(f"{name}: losses {training[name]['losses']}")
    for name, (family, scaling) in ROPE.items():
        ids = expected[family]["ids"]
        model = build(FIXTURES / f"tiny_{family}.gguf", scaling)
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0]
        plain = torch.tensor(expected[family]["logits"])
        moved = (logits - plain).abs().max().item()
        assert moved > 1e-2, "the stretch changes nothing"
        stretched[name] = {"family": family, **scaling, "logits": [numbers(r) for r in logits]}
        print(f"{name}: moves a logit by {moved:.2g}")
    (FIXTURES / "families_training.json").write_text(json.dumps(training) + "\n")
    (FIXTURES / "rope_logits.json").write_text(json.dumps(stretched) + "\n")


if __name__ == "__main__":
    main()
