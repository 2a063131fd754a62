"""Logs the run to Weights & Biases; offline unless WANDB_MODE says otherwise, then `wandb sync` uploads it."""
import json, os
from pathlib import Path
import pandas as pd, wandb

root = Path(__file__).parents[1]
manifest = json.loads((root / "MANIFEST.json").read_text(encoding="utf-8"))
config = json.loads((root / "events.jsonl").open(encoding="utf-8").readline())["manifest"]
run = wandb.init(project="attt", name=manifest["run"], config=config, mode=os.environ.get("WANDB_MODE", "offline"))
for row in pd.read_parquet(root / "metrics.parquet").to_dict("records"):
    run.log({key: value for key, value in row.items() if key != "step" and value == value}, step=int(row["step"]))
if (root / "adapter").is_dir():
    artifact = wandb.Artifact(f"adapter-{manifest['run']}", type="adapter")
    artifact.add_dir(str(root / "adapter"))
    run.log_artifact(artifact)
run.finish()
