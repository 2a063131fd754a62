"""LoRA on a frozen policy: A and B of every projection, and their GGUF file. Knows no text and no schedule."""

import math
from pathlib import Path

import gguf
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model import Policy

MODULES = {
    "qkv": ("attn_q", "attn_k", "attn_v"), "out": ("attn_output",), "gate_up": ("ffn_gate", "ffn_up"), "down": ("ffn_down",),
}
"""The matrices of a layer as model.py stacks them, and the tensors that they are in a file."""


class AdaptedLinear(nn.Module):
    """W x + (alpha / r) B A (g x) for each of the matrices stacked in W, with g the gain that was folded into W.

    W is frozen and multiplied in bfloat16, which is 2.2 times as fast as float32 on a core with AVX-512 BF16; A [r, in]
    and B [out, r] stay float32. A starts uniform as in PEFT, B at 0, so that the policy starts unchanged.
    """

    def __init__(self, linear: nn.Linear, parts: tuple[int, ...], gain: Tensor, rank: int, alpha: float):
        super().__init__()
        self.register_buffer("weight", linear.weight.detach().bfloat16())
        self.register_buffer("gain", gain)
        bound = 1 / math.sqrt(linear.in_features)
        self.rank, self.scale = rank, alpha / rank
        self.a = nn.Parameter(torch.empty(len(parts) * rank, linear.in_features).uniform_(-bound, bound))
        self.b = nn.ParameterList(torch.zeros(rows, rank) for rows in parts)

    def forward(self, x: Tensor) -> Tensor:
        frozen = F.linear(x.bfloat16(), self.weight).float()
        return frozen + F.linear(F.linear(x, self.a * self.gain), self.scale * torch.block_diag(*self.b))

    def pairs(self) -> list[tuple[Tensor, Tensor]]:
        """A and B of each stacked matrix."""
        return list(zip(self.a.split(self.rank), self.b, strict=True))


def adapt(policy: Policy, gains: list[tuple[Tensor, Tensor]], rank: int, alpha: float) -> list[nn.Parameter]:
    """Freezes the policy and puts an adapter on every projection; returns what is trained.

    `gains` are each layer's norm gains before attention and before the SwiGLU, which gguf_file.py folds into W.
    """
    policy.requires_grad_(False)
    s = policy.shape
    kv = s.kv_heads * s.head_dim
    for layer, (attn, ffn) in zip(policy.layers, gains, strict=True):
        layer.qkv = AdaptedLinear(layer.qkv, (s.width, kv, kv), attn, rank, alpha)
        layer.out = AdaptedLinear(layer.out, (s.width,), torch.ones(s.width), rank, alpha)
        layer.gate_up = AdaptedLinear(layer.gate_up, (s.hidden, s.hidden), ffn, rank, alpha)
        layer.down = AdaptedLinear(layer.down, (s.width,), torch.ones(s.hidden), rank, alpha)
    return [p for p in policy.parameters() if p.requires_grad]


def write_lora(path: Path, policy: Policy, alpha: float, name: str) -> None:
    """The adapter as llama.cpp's GGUF LoRA, F16."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    writer.add_name(name)
    writer.add_license("apache-2.0")
    for i, layer in enumerate(policy.layers):
        for module, tensors in MODULES.items():
            for tensor, (a, b) in zip(tensors, getattr(layer, module).pairs(), strict=True):
                for side, values in (("a", a), ("b", b)):
                    writer.add_tensor(f"blk.{i}.{tensor}.weight.lora_{side}", values.detach().numpy().astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read_lora(path: Path) -> dict[str, Tensor]:
    """What the adapter adds to each tensor of its base, F32: (alpha / r) B A."""
    reader = gguf.GGUFReader(path)
    alpha = reader.get_field("adapter.lora.alpha").contents()
    sides = {t.name: torch.from_numpy(np.array(t.data)).float() for t in reader.tensors}
    names = [name.removesuffix(".lora_a") for name in sides if name.endswith(".lora_a")]
    return {n: sides[f"{n}.lora_b"] @ sides[f"{n}.lora_a"] * (alpha / len(sides[f"{n}.lora_a"])) for n in names}
