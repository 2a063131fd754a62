"""Puts a run's CSV files beside the model and draws the loss curve as SVG. Knows the columns, nothing of training."""

import argparse
import csv
import math
from pathlib import Path

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 320, 56, 24, 16, 40
LOW, HIGH = 0.005, 8.0
"""The range of the loss axis, nats a token, drawn by logarithm."""
LINES = (("thought", "#2a6f97"), ("action", "#c1121f"))


Rows = list[dict[str, str]]


def read(path: Path) -> Rows:
    with path.open() as f:
        return list(csv.DictReader(f))


def joined(legs: list[tuple[Path, Path]]) -> tuple[Rows, Rows]:
    """The rows of training and validation; a leg's steps, minutes and tokens go on where the leg before ended."""
    base, out = {"step": 0.0, "minutes": 0.0, "tokens": 0.0}, ([], [])
    for leg in legs:
        parts = [read(path) for path in leg]
        for rows, part in zip(out, parts):
            rows += [{**r, "step": str(int(base["step"]) + int(r["step"])), "minutes": f"{base['minutes'] + float(r['minutes']):.2f}",
                      "tokens": str(int(base["tokens"]) + int(r["tokens"]))} for r in part]
        base = {k: base[k] + max(float(part[-1][k]) for part in parts if part) for k in base}
    return out


def write_csv(path: Path, rows: Rows) -> None:
    with path.open("w", newline="") as f:
        writer = csv.DictWriter(f, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def svg(train: Rows, val: Rows) -> str:
    last = max(int(r["tokens"]) for r in (*train, *val))
    x = lambda tokens: LEFT + (WIDTH - LEFT - RIGHT) * tokens / last
    y = lambda loss: TOP + (HEIGHT - TOP - BOTTOM) * math.log(HIGH / min(HIGH, max(LOW, loss))) / math.log(HIGH / LOW)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for tick in (0.01, 0.03, 0.1, 0.3, 1, 3):
        parts.append(f'<path d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick}</text>')
    for i in range(6):
        parts.append(f'<text x="{x(last * i / 5):.1f}" y="{HEIGHT - 22}" text-anchor="middle">{last * i / 5e6:.1f}</text>')
    parts.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 6}" text-anchor="middle">million tokens</text>'
                 f'<text x="{LEFT}" y="14">cross entropy, nats a token: lines train, dots held-back full rooms</text>')
    for i, (name, colour) in enumerate(LINES):
        points = " ".join(f"{x(int(r['tokens'])):.1f},{y(float(r[name])):.1f}" for r in train if r[name])
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += [f'<circle cx="{x(int(r["tokens"])):.1f}" cy="{y(float(r[name])):.1f}" r="3" fill="{colour}"/>' for r in val]
        parts.append(f'<text x="{WIDTH - RIGHT - 60}" y="{TOP + 14 + 14 * i}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, nargs="+", required=True)
    parser.add_argument("--val", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    train, val = joined(list(zip(args.train, args.val, strict=True)))
    write_csv(args.out / "train.csv", train)
    write_csv(args.out / "val.csv", val)
    (args.out / "loss.svg").write_text(svg(train, val))


if __name__ == "__main__":
    main()
