"""Writes the reference of elastic weight consolidation over three updates (pip install torch numpy).

The tiny llama of e2e/fixtures/engine/tiny.gguf, written out below with a LoRA on q_proj and v_proj. That the writing
is right is checked first against the losses, gradients and parameters that transformers and PEFT gave for it
(tiny_training.json). Then three texts, one Adam step each (the optimiser goes on), with

    L = Σ w CE / Σ w + λ / 2 · Σ_k Σ F_k (θ − θ*_k)²,

k over the earlier texts, θ*_k the parameters after text k was trained, F_k the square of the gradient of its Σ w CE / Σ w
there. Run from the repository root; writes tiny_ewc.json.
"""

import json
import pathlib

import numpy as np
import torch

FIXTURES = pathlib.Path("e2e/fixtures/engine")
WIDTH, HEADS, KV_HEADS, HEAD, LAYERS, EPSILON, BASE = 16, 4, 2, 4, 2, 1e-6, 10_000.0
STRENGTH, RATE = 3000.0, 5e-3
TEXTS = [
    {"ids": [3, 7, 11, 2, 30, 5, 9, 14, 8, 1], "weights": [0, 0, 0, 0, 1, 0.5, 0.25, 0.05, 1, 0.25]},
    {"ids": [3, 21, 4, 40, 11, 6], "weights": [0, 1, 1, 1, 1, 0.5]},
    {"ids": [3, 7, 11, 2, 33, 47, 9], "weights": [0, 0.5, 0.5, 1, 1, 1, 1]},
]


def read_safetensors(path):
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    head, data = json.loads(raw[8 : 8 + length]), raw[8 + length :]
    return {
        name: torch.from_numpy(np.frombuffer(data[slice(*t["data_offsets"])], np.float32).reshape(t["shape"]).copy())
        for name, t in head.items()
        if name != "__metadata__"
    }


base = read_safetensors(FIXTURES / "tiny_base_hf.safetensors")


def start_of(case):
    """The case's parameters by PEFT's names, from its formula."""
    r = case["r"]
    shapes = {}
    for layer in range(LAYERS):
        for target in case["target_modules"]:
            block = "self_attn" if target[0] in "qkvo" and target != "up_proj" else "mlp"
            name = f"model.layers.{layer}.{block}.{target}"
            out, inside = base[f"{name}.weight"].shape
            shapes[f"base_model.model.{name}.lora_A.default.weight"] = (r, inside)
            shapes[f"base_model.model.{name}.lora_B.default.weight"] = (out, r)
    start = {}
    for seed, name in enumerate(sorted(shapes), start=1):
        scale = 0.05 if "lora_A" in name else case["init"]["b_scale"]
        size = int(np.prod(shapes[name]))
        flat = (scale * np.sin(seed + 12.9898 * np.arange(size, dtype=np.float64))).astype(np.float32)
        start[name] = torch.from_numpy(flat.reshape(shapes[name])).requires_grad_()
    return start


def rms_norm(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * weight


def rotated(x):  # [heads, T, HEAD], as transformers turns halves
    angles = torch.arange(x.shape[1])[:, None] * BASE ** (-torch.arange(0, HEAD, 2) / HEAD)
    cos, sin = (torch.cat([f(angles)] * 2, -1) for f in (torch.cos, torch.sin))
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin


def cross_entropies(adapter, scale, ids):
    """Of each id but the first, given all before it."""

    def linear(name, x):
        y = x @ base[f"{name}.weight"].T
        a = adapter.get(f"base_model.model.{name}.lora_A.default.weight")
        if a is None:
            return y
        return y + scale * (x @ a.T) @ adapter[f"base_model.model.{name}.lora_B.default.weight"].T

    def heads(x, count):
        return x.view(len(ids), count, HEAD).transpose(0, 1)

    x = base["model.embed_tokens.weight"][torch.tensor(ids)]
    hidden = torch.full((len(ids), len(ids)), -torch.inf).triu(1)
    for layer in range(LAYERS):
        at = f"model.layers.{layer}"
        h = rms_norm(x, base[f"{at}.input_layernorm.weight"])
        q = rotated(heads(linear(f"{at}.self_attn.q_proj", h), HEADS))
        k = rotated(heads(linear(f"{at}.self_attn.k_proj", h), KV_HEADS)).repeat_interleave(HEADS // KV_HEADS, 0)
        v = heads(linear(f"{at}.self_attn.v_proj", h), KV_HEADS).repeat_interleave(HEADS // KV_HEADS, 0)
        scores = torch.softmax(q @ k.transpose(1, 2) / HEAD**0.5 + hidden, -1)
        x = x + linear(f"{at}.self_attn.o_proj", (scores @ v).transpose(0, 1).reshape(len(ids), WIDTH))
        h = rms_norm(x, base[f"{at}.post_attention_layernorm.weight"])
        gate = torch.nn.functional.silu(linear(f"{at}.mlp.gate_proj", h))
        x = x + linear(f"{at}.mlp.down_proj", gate * linear(f"{at}.mlp.up_proj", h))
    logits = rms_norm(x, base["model.norm.weight"]) @ base["model.embed_tokens.weight"].T
    return torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(ids[1:]), reduction="none")


def loss_of(adapter, scale, ids, weights):
    w = torch.tensor(weights[1:], dtype=torch.float32)
    return (w * cross_entropies(adapter, scale, ids)).sum() / w.sum()


def check(case):
    adapter, scale = start_of(case), case["lora_alpha"] / case["r"]
    weights = [0.0] * case["first_label_index"] + case["weights"]
    adam = torch.optim.Adam(adapter.values(), lr=case["lr"])
    losses = []
    for step in range(case["steps"] + 1):
        adam.zero_grad()
        loss = loss_of(adapter, scale, case["ids"], weights)
        losses.append(loss.item())
        loss.backward()
        if step == 0:
            for name, rows in case["grad_step1"].items():
                assert np.allclose(adapter[name].grad.numpy(), rows, rtol=1e-4, atol=1e-6), name
        if step < case["steps"]:
            adam.step()
    assert np.allclose(losses, case["losses"], rtol=1e-5), (losses, case["losses"])
    for name, rows in case["param_after"].items():
        assert np.allclose(adapter[name].detach().numpy(), rows, rtol=1e-4, atol=1e-6), name


for case in json.loads((FIXTURES / "tiny_training.json").read_text()).values():
    check(case)


def consolidated(strength):
    case = {"target_modules": ["q_proj", "v_proj"], "r": 2, "lora_alpha": 4, "init": {"b_scale": 0.02}}
    adapter, scale = start_of(case), 2.0
    adam = torch.optim.Adam(adapter.values(), lr=RATE)
    earlier, losses = [], []
    for text in TEXTS:
        adam.zero_grad()
        loss = loss_of(adapter, scale, **text)
        pulls = [
            (fisher[name] * (theta - anchor[name]) ** 2).sum()
            for fisher, anchor in earlier
            for name, theta in adapter.items()
        ]
        (loss + strength / 2 * sum(pulls)).backward()
        adam.step()
        adam.zero_grad()
        after = loss_of(adapter, scale, **text)
        after.backward()
        fisher = {name: theta.grad.detach() ** 2 for name, theta in adapter.items()}
        earlier.append((fisher, {name: theta.detach().clone() for name, theta in adapter.items()}))
        losses.append([loss.item(), after.item()])
    parameters = {name: theta.detach().numpy().tolist() for name, theta in sorted(adapter.items())}
    return {"losses": losses, "param_after": parameters}


written = {"strength": STRENGTH, "lr": RATE, "texts": TEXTS, **consolidated(STRENGTH)}
free = consolidated(0)
apart = max(
    np.abs(np.array(written["param_after"][name]) - np.array(free["param_after"][name])).max()
    for name in free["param_after"]
)
print("furthest apart from the same without consolidation:", apart, "losses", written["losses"], free["losses"])
(FIXTURES / "tiny_ewc.json").write_text(json.dumps(written) + "\n")
