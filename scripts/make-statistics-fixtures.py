"""Writes e2e/fixtures/statistics.json: what statsmodels, NumPy and math.comb give for src/math/statistics.ts.

    .venv/bin/pip install numpy statsmodels && .venv/bin/python scripts/make-statistics-fixtures.py
"""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import statsmodels
import statsmodels.api as sm
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

rng = np.random.default_rng(20261129)


def wilson():
    cases = [(0, 1), (1, 1), (9, 10), (0, 134), (67, 134), (400, 402)]
    return [
        {"successes": c, "n": n, "interval": [float(x) for x in proportion_confint(c, n, 0.05, "wilson")]}
        for c, n in cases
    ]


def quantiles():
    out = []
    for size in (1, 2, 7, 50):
        values = rng.normal(size=size).round(6).tolist()
        out.append({"values": values, "q": [0.025, 0.5, 0.95, 1.0],
                    "result": [float(np.quantile(values, q)) for q in (0.025, 0.5, 0.95, 1.0)]})
    return out


def standard_errors():
    clustered = [1.0, 1.0, 0.0, 0.0]
    other = rng.random(9).round(6).tolist()
    return [{"values": v, "se": float(np.std(v, ddof=1) / math.sqrt(len(v)))} for v in (clustered, other)]


def sign_flips():
    out = []
    # The last sums to 0, but not in floating point.
    for values in ([0.5, 0.5, -0.25, 1, 0, 0.75], [1, 1, 1], [1 / 3, -1 / 3, 2 / 3, 1 / 3, 1, -2 / 3, 1 / 3],
                   [0, 0], [-2 / 3, -2 / 3, 1 / 3, 2 / 3, 1 / 3]):
        seen = abs(np.mean(values))
        means = [abs(np.mean(np.array(values) * np.array(s))) for s in itertools.product((1, -1), repeat=len(values))]
        out.append({"differences": values, "p": float(np.mean(np.array(means) >= seen - 1e-12))})
    return out


def cluster(sizes_and_sums):
    """The values of each task: `total` ones and zeros for the rest."""
    return [[1] * total + [0] * (size - total) for size, total in sizes_and_sums]


def cluster_errors():
    """Cluster-robust (CR1) standard error of a mean over all values."""
    out = []
    for tasks in (cluster([(5, 5), (5, 5), (5, 0), (5, 0)]), cluster([(10, 10), (1, 1)] + [(1, 0)] * 11),
                  [[0.2, 0.5], [0.9], [1.4, 1.1, 0.3]]):
        y = np.concatenate(tasks)
        groups = np.repeat(np.arange(len(tasks)), [len(t) for t in tasks])
        fit = sm.OLS(y, np.ones_like(y)).fit(cov_type="cluster", cov_kwds={"groups": groups})
        out.append({"tasks": tasks, "mean": float(fit.params[0]), "se": float(fit.bse[0])})
    return out


def cluster_bootstrap():
    """Of the mean over all values, drawing tasks that have unequal numbers of them."""
    generator = np.random.default_rng(20261130)
    sizes = generator.integers(1, 6, size=40)
    shape = list(zip(sizes.tolist(), generator.binomial(sizes, 0.6).tolist()))
    size, total = np.array(shape).T
    drawn = generator.integers(0, len(shape), size=(400_000, len(shape)))
    rates = total[drawn].sum(axis=1) / size[drawn].sum(axis=1)
    return {"tasks": cluster(shape), "interval": [float(np.quantile(rates, q)) for q in (0.025, 0.975)]}


def large_sign_flip():
    values = (rng.integers(-3, 4, size=60) / 3 + 0.12).round(6).tolist()
    signs = rng.choice([-1.0, 1.0], size=(400_000, len(values)))
    p = float(np.mean(np.abs(signs @ np.array(values)) >= abs(sum(values)) - 1e-12))
    return {"differences": values, "p": p, "standard_error": math.sqrt(p * (1 - p) / 20_000)}


def bootstrap():
    values = (rng.integers(0, 4, size=40) / 3).tolist()
    draws = rng.choice(values, size=(400_000, len(values))).mean(axis=1)
    return {"values": values, "interval": [float(np.quantile(draws, q)) for q in (0.025, 0.975)]}


def holm():
    out = []
    for p in ([0.01, 0.04, 0.03], [0.5, 0.001, 0.02, 0.02, 0.9], [0.6, 0.7],
              [0.015625, 1, 1, 1]):
        out.append({"p": p, "adjusted": [float(x) for x in multipletests(p, method="holm")[1]]})
    return out


def passes():
    out = []
    for n, c, k in [(3, 0, 5), (3, 2, 5), (5, 2, 3), (5, 0, 3), (5, 3, 3), (0, 0, 1),
                    (5, 4, 2), (5, 4, 3), (5, 1, 2), (2, 1, 3), (10, 7, 4)]:
        fits = n >= k
        out.append({"n": n, "c": c, "k": k,
                    "at": 1 - math.comb(n - c, k) / math.comb(n, k) if fits else None,
                    "hat": math.comb(c, k) / math.comb(n, k) if fits else None})
    return out


result = {
    "versions": {"numpy": np.__version__, "statsmodels": statsmodels.__version__},
    "wilson": wilson(),
    "quantiles": quantiles(),
    "standard_errors": standard_errors(),
    "sign_flips": sign_flips(),
    "large_sign_flip": large_sign_flip(),
    "bootstrap": bootstrap(),
    "holm": holm(),
    "passes": passes(),
    "cluster_errors": cluster_errors(),
    "cluster_bootstrap": cluster_bootstrap(),
}
path = Path(__file__).parent.parent / "e2e/fixtures/statistics.json"
path.write_text(json.dumps(result, indent=1) + "\n")
