#!/bin/bash
# One shard a task of a Slurm array: sbatch --array=1-64 docs/experiments/slurm.sh docs/experiments/main.toml out/
# A task that is killed or requeued goes on where it was: finished episodes are in out/ already. To submit some
# of them again, say how many there were: sbatch --array=7,9 docs/experiments/slurm.sh FILE out/ 64
#SBATCH --job-name=attt
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --output=attt-%A-%a.log
set -euo pipefail
file=$1
out=$2
shards=${3:-$SLURM_ARRAY_TASK_COUNT}
# A cluster that binds no task to its CPU shows each the whole machine, of which the command would take up to four.
npx attt experiment "$file" --out "$out" \
  --shard "$SLURM_ARRAY_TASK_ID/$shards" --backend wasm --threads 1
