"""Muon for matrices and AdamW for the rest, updating in place. Knows parameters and gradients, no schedule."""

import torch
from torch import Tensor


def orthogonal(matrices: Tensor, steps: int = 5) -> Tensor:
    """The nearest semi-orthogonal matrices of [N, rows, columns], by the quintic Newton-Schulz iteration of Muon

    (Jordan et al., 2024): X <- aX + (bA + cA^2)X with A = XX^T, which drives singular values to about 1.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    x = matrices.transpose(1, 2) if matrices.shape[1] > matrices.shape[2] else matrices
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(steps):
        gram = x @ x.transpose(1, 2)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.transpose(1, 2) if matrices.shape[1] > matrices.shape[2] else x


class Muon:
    """Momentum, orthogonalised, scaled by sqrt(max(1, rows / columns)); decoupled weight decay.

    A parameter that holds several matrices stacked by rows is split first: `parts` gives the rows of each.
    """

    def __init__(self, params: list[tuple[Tensor, tuple[int, ...]]], momentum: float = 0.95, decay: float = 0.02):
        self.params, self.momentum, self.decay = params, momentum, decay
        self.buffers = [torch.zeros_like(p) for p, _ in params]

    @torch.no_grad()
    def step(self, grads: list[Tensor], lr: float) -> None:
        views: dict[tuple[int, int], list[tuple[Tensor, Tensor]]] = {}
        for (p, parts), buffer, grad in zip(self.params, self.buffers, grads):
            buffer.lerp_(grad, 1 - self.momentum)
            look = grad.lerp(buffer, self.momentum)
            for target, matrix in zip(p.split(parts), look.split(parts)):
                views.setdefault(tuple(matrix.shape), []).append((target, matrix))
        for (rows, columns), pairs in views.items():
            updates = orthogonal(torch.stack([m for _, m in pairs]))
            scale = max(1.0, rows / columns) ** 0.5
            for (target, _), update in zip(pairs, updates):
                target.mul_(1 - lr * self.decay).add_(update, alpha=-lr * scale)

    def state(self) -> list[Tensor]:
        return self.buffers


class AdamW:
    """Adam with bias correction and no decay, for embeddings and gains."""

    def __init__(self, params: list[Tensor], betas: tuple[float, float] = (0.9, 0.98), eps: float = 1e-10):
        self.params, self.betas, self.eps = params, betas, eps
        self.moments = [torch.zeros_like(p) for p in params for _ in range(2)]
        self.count = torch.zeros(1)

    @torch.no_grad()
    def step(self, grads: list[Tensor], lr: float) -> None:
        self.count += 1
        t = self.count.item()
        b1, b2 = self.betas
        for i, (p, grad) in enumerate(zip(self.params, grads)):
            m, v = self.moments[2 * i], self.moments[2 * i + 1]
            m.lerp_(grad, 1 - b1)
            v.lerp_(grad.square(), 1 - b2)
            p.addcdiv_(m, v.sqrt().div_((1 - b2**t) ** 0.5).add_(self.eps), value=-lr / (1 - b1**t))

    def state(self) -> list[Tensor]:
        return [*self.moments, self.count]
