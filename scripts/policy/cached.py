"""The policy with keys and values kept, for many conversations of different lengths at once. Knows no text."""

import torch
import torch.nn.functional as F
from torch import Tensor

from model import Policy, UnitNorm, rotate


class CachedPolicy:
    """Borrows a policy; owns the keys and values of `rows` conversations of up to `length` positions."""

    def __init__(self, policy: Policy, rows: int, length: int):
        self.policy, s = policy, policy.shape
        self.keys = torch.zeros(s.layers, rows, s.kv_heads, length, s.head_dim)
        self.values = torch.zeros_like(self.keys)
        self.lengths = [0] * rows

    @torch.no_grad()
    def read(self, rows: list[int], ids: list[list[int]]) -> Tensor:
        """Appends ids[i] to the conversation of rows[i] and returns the logits [rows, vocab] after each one's last id.

        Everything position-wise runs on all new ids together; attention runs row by row, over that row's own length.
        """
        s = self.policy.shape
        counts = [len(i) for i in ids]
        starts = [self.lengths[r] for r in rows]
        positions = torch.cat([torch.arange(a, a + n) for a, n in zip(starts, counts)])
        table = self.policy.table[positions]
        x = self.policy.embed(torch.tensor([i for row in ids for i in row]))
        kv = s.kv_heads * s.head_dim
        masks = [None if n == 1 else torch.ones(n, a + n, dtype=torch.bool).tril_(a) for a, n in zip(starts, counts)]
        for index, layer in enumerate(self.policy.layers):
            qk, v = layer.qkv(UnitNorm.apply(x, s.eps)).split((s.width + kv, kv), dim=-1)
            qk = rotate(qk.unflatten(-1, (-1, s.head_dim)), table).transpose(0, 1)
            q, k = qk.split((s.heads, s.kv_heads), dim=0)
            v = v.unflatten(-1, (-1, s.head_dim)).transpose(0, 1)
            mixed, at = torch.empty_like(x), 0
            for row, start, n, mask in zip(rows, starts, counts, masks):
                keys, values = self.keys[index, row], self.values[index, row]
                keys[:, start : start + n] = k[:, at : at + n]
                values[:, start : start + n] = v[:, at : at + n]
                y = F.scaled_dot_product_attention(
                    q[None, :, at : at + n], keys[None, :, : start + n], values[None, :, : start + n],
                    attn_mask=mask, enable_gqa=s.kv_heads != s.heads)
                mixed[at : at + n] = y[0].transpose(0, 1).reshape(n, s.width)
                at += n
            x = layer.finish(x, mixed)
        for row, n in zip(rows, counts):
            self.lengths[row] += n
        last = torch.tensor(counts).cumsum(0) - 1
        return F.linear(UnitNorm.apply(x[last], s.eps) * self.policy.gain, self.policy.embed.weight)
