"""Runs an experiment's shards as Ray tasks; each is a process of the command, retried where it was left.

    python docs/experiments/ray_shards.py docs/experiments/main.toml out/ 64

The repository (after `npm ci`) and out/ lie on a file system that every node sees.
"""

import subprocess
import sys

import ray


@ray.remote(num_cpus=1, max_retries=3, retry_exceptions=True)
def shard(file: str, out: str, index: int, count: int) -> int:
    command = ["node", "scripts/attt.mjs", "experiment", file, "--out", out]
    subprocess.run([*command, "--shard", f"{index}/{count}"], check=True)
    return index


def main() -> None:
    file, out, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    ray.init()
    waiting = [shard.remote(file, out, i + 1, count) for i in range(count)]
    while waiting:
        done, waiting = ray.wait(waiting)
        print(f"shard {ray.get(done[0])} of {count} is done, {len(waiting)} left", file=sys.stderr)


if __name__ == "__main__":
    main()
