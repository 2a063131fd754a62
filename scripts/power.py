"""Prints how small a difference an experiment can tell: the table of docs/experiments/README.md.

A paired difference of success rates over n pairs has variance (d - g^2) / n, where d is the share of
discordant pairs and g the difference; s repeats of a task multiply it by 1 + (s - 1) rho, where rho is
the correlation of a task's repeated differences. Told with 80 % power at 5 % two-sided, divided by the
number of comparisons (Bonferroni: Holm is never worse): (z_alpha + z_0.8) times the standard error.

    python3 scripts/power.py
"""

from math import sqrt
from statistics import NormalDist

z = NormalDist().inv_cdf
DISCORDANT = 0.25
RHO = 0.3


def standard_error(tasks, seeds, gain=0.05):
    return sqrt((DISCORDANT - gain**2) * (1 + (seeds - 1) * RHO) / (tasks * seeds))


def smallest(tasks, seeds, comparisons):
    return (z(1 - 0.05 / 2 / comparisons) + z(0.8)) * standard_error(tasks, seeds)


print(f"{'set':<24}{'pairs':>7}{'se':>8}{'1 comparison':>14}{'5':>8}{'23':>8}   (points)")
for name, tasks, seeds in [("134 x 3", 134, 3), ("134 x 10", 134, 10), ("1,000 x 1", 1000, 1),
                           ("1,000 x 3", 1000, 3), ("1,000 x 5", 1000, 5)]:
    told = [100 * smallest(tasks, seeds, m) for m in (1, 5, 23)]
    print(f"{name:<24}{tasks * seeds:>7}{100 * standard_error(tasks, seeds):>8.2f}"
          f"{told[0]:>14.1f}{told[1]:>8.1f}{told[2]:>8.1f}")
print(f"134 x 3 without clustering: {100 * sqrt((DISCORDANT - 0.0025) / 402):.2f}")
