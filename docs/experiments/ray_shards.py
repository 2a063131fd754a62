"""Runs an experiment's shards as Ray tasks; each is a process of the command, retried where it was left.

    python docs/experiments/ray_shards.py docs/experiments/main.toml out/ 64

The repository (after `npm ci`) and out/ lie on a file system that every node sees. A shard that fails after all its
retries leaves the others running; at the end all such are named, and the exit code is 1.
"""

import subprocess
import sys

import ray
from ray.exceptions import RayError, RayTaskError

# A worker that is killed, for memory say, cannot end what it started, and Ray does so only where
# RAY_process_group_cleanup_enabled is on. With it off (Ray 2.60) the command ran on, and the retry stopped: another one
# runs the same part. So the kernel kills the command as soon as the thread that started it is gone. setpriv (util-linux)
# asks for that, since preexec_fn is not safe in a process of many threads, which a worker is.
WITH_WORKER = ["setpriv", "--pdeathsig", "KILL"] if sys.platform == "linux" else []


@ray.remote(num_cpus=1, max_retries=3, retry_exceptions=True)
def shard(file: str, out: str, index: int, count: int) -> None:
    command = ["node", "scripts/attt.mjs", "experiment", file, "--out", out]
    # Ray books a CPU for a task and holds nobody to it: the command would take up to four of the machine's.
    own = ["--shard", f"{index}/{count}", "--threads", "1"]
    subprocess.run([*WITH_WORKER, *command, *own], check=True)


def main() -> int:
    file, out, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    ray.init()
    shards = {shard.remote(file, out, i, count): i for i in range(1, count + 1)}
    waiting = list(shards)
    failed: list[int] = []
    while waiting:
        [done], waiting = ray.wait(waiting)
        try:
            ray.get(done)
            end, why = "is done", ""
        except RayError as error:
            failed.append(shards[done])
            end, why = "failed", f": {error.cause if isinstance(error, RayTaskError) else error}"
        print(f"shard {shards[done]} of {count} {end}, {len(waiting)} left{why}", file=sys.stderr)
    if not failed:
        return 0
    names = ", ".join(str(index) for index in sorted(failed))
    print(
        f"{len(failed)} of {count} shards failed: {names}. Their output says why. Run this again when that is mended: "
        "finished episodes are not repeated.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
