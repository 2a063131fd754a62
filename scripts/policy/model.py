"""The policy network: a llama-style decoder in PyTorch. Knows shapes and weights, nothing about data or files."""

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    """Sizes of one model. `width` and `hidden` are multiples of 32, so that every row is whole Q8_0 blocks."""

    vocab: int = 1024
    layers: int = 6
    width: int = 192
    heads: int = 4
    kv_heads: int = 4
    hidden: int = 384
    context: int = 4096
    rope_base: float = 100000.0
    eps: float = 1e-5

    @property
    def head_dim(self) -> int:
        return self.width // self.heads

    def as_dict(self) -> dict:
        return asdict(self)


class UnitNorm(torch.autograd.Function):
    """x / sqrt(mean(x^2) + eps) over the last axis, with few passes over memory.

    Backward: dx = r * (dy - y * mean(dy * y)), with r the factor of the forward pass.
    """

    @staticmethod
    def forward(ctx, x: Tensor, eps: float) -> Tensor:
        factor = (torch.linalg.vector_norm(x, dim=-1, keepdim=True).square_() / x.shape[-1] + eps).rsqrt_()
        y = x * factor
        ctx.save_for_backward(y, factor)
        return y

    @staticmethod
    def backward(ctx, dy: Tensor):
        y, factor = ctx.saved_tensors
        mean = (dy * y).mean(-1, keepdim=True)
        return torch.addcmul(dy, y, mean, value=-1).mul_(factor), None


def rope_table(shape: Shape) -> Tensor:
    """exp(i * position * base^(-2j / head_dim)), complex [context, 1, head_dim / 2]."""
    half = torch.arange(0, shape.head_dim, 2, dtype=torch.float64) / shape.head_dim
    angle = torch.arange(shape.context, dtype=torch.float64)[:, None] * shape.rope_base**-half
    return torch.polar(torch.ones_like(angle), angle).to(torch.complex64)[:, None, :]


def rotate(x: Tensor, table: Tensor) -> Tensor:
    """Rotates [B, T, H, D] by position; a pair is two neighbours, which is the order llama files use."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * table).flatten(-2)


class Layer(nn.Module):
    """Attention and SwiGLU, each behind its norm and added to the stream.

    The norms have no gain: a gain could be folded into the matrix behind it, so the file stores ones.
    """

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        kv = shape.kv_heads * shape.head_dim
        self.qkv = nn.Linear(shape.width, shape.width + 2 * kv, bias=False)
        self.out = nn.Linear(shape.width, shape.width, bias=False)
        self.gate_up = nn.Linear(shape.width, 2 * shape.hidden, bias=False)
        self.down = nn.Linear(shape.hidden, shape.width, bias=False)

    def mix(self, x: Tensor, table: Tensor) -> Tensor:
        """Causal attention over [B, T, width], before the output matrix."""
        s = self.shape
        b, t, _ = x.shape
        kv = s.kv_heads * s.head_dim
        qk, v = self.qkv(UnitNorm.apply(x, s.eps)).split((s.width + kv, kv), dim=-1)
        qk = rotate(qk.unflatten(-1, (-1, s.head_dim)), table).transpose(1, 2)
        q, k = qk.split((s.heads, s.kv_heads), dim=1)
        v = v.unflatten(-1, (-1, s.head_dim)).transpose(1, 2)
        if s.kv_heads != s.heads:
            k = k.repeat_interleave(s.heads // s.kv_heads, dim=1)
            v = v.repeat_interleave(s.heads // s.kv_heads, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return y.transpose(1, 2).reshape(b, t, s.width)

    def finish(self, x: Tensor, mixed: Tensor) -> Tensor:
        """Adds the attention output and then the SwiGLU; works on any leading shape."""
        x = x + self.out(mixed)
        gate, up = self.gate_up(UnitNorm.apply(x, self.shape.eps)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


class Policy(nn.Module):
    """Token ids [B, T] to the final normed state; the head is the embedding (tied)."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        self.embed = nn.Embedding(shape.vocab, shape.width)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.gain = nn.Parameter(torch.ones(shape.width))
        self.register_buffer("table", rope_table(shape), persistent=False)
        self.reset()

    def reset(self) -> None:
        """Embedding N(0, 0.04); matrices uniform with variance 1/fan-in; matrices that write the stream start at 0."""
        nn.init.normal_(self.embed.weight, std=0.04)
        for layer in self.layers:
            for linear in (layer.qkv, layer.gate_up):
                bound = (3.0 / linear.in_features) ** 0.5 * 0.7
                nn.init.uniform_(linear.weight, -bound, bound)
            nn.init.zeros_(layer.out.weight)
            nn.init.zeros_(layer.down.weight)

    def states(self, ids: Tensor, pick: Tensor) -> Tensor:
        """The states [N, width] at the flat positions `pick` of ids [B, T].

        Right padding needs no mask: attention is causal and padded positions are never picked. The last layer's
        position-wise half runs on the picked positions only.
        """
        table = self.table[: ids.shape[1]]
        x = self.embed(ids)
        for layer in self.layers[:-1]:
            x = layer.finish(x, layer.mix(x, table))
        last = self.layers[-1]
        mixed = last.mix(x, table)
        x = x.reshape(-1, self.shape.width)[pick]
        mixed = mixed.reshape(-1, self.shape.width)[pick]
        return UnitNorm.apply(last.finish(x, mixed), self.shape.eps) * self.gain

    def forward(self, ids: Tensor, pick: Tensor, labels: Tensor) -> Tensor:
        """Cross entropy in nats of `labels` [N] at the positions `pick` [N], not reduced."""
        logits = F.linear(self.states(ids, pick), self.embed.weight)
        return F.cross_entropy(logits, labels, reduction="none")

    @torch.no_grad()
    def logits(self, ids: list[int]) -> Tensor:
        """Logits [T, vocab] of one sequence."""
        row = torch.tensor([ids])
        return F.linear(self.states(row, torch.arange(len(ids))), self.embed.weight)
