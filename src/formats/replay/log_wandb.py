"""Logs the run to Weights & Biases; offline unless WANDB_MODE says otherwise, then `wandb sync` uploads it."""
import os
import wandb
from run import events, manifest, metrics, root

mode = os.environ.get("WANDB_MODE", "offline")
run = wandb.init(project="attt", name=manifest["run"], config=events[0]["manifest"], mode=mode)
for step, row in metrics():
    run.log(row, step=step)
if (root / "adapter").is_dir():
    artifact = wandb.Artifact(f"adapter-{manifest['run']}", type="adapter")
    artifact.add_dir(str(root / "adapter"))
    run.log_artifact(artifact)
run.finish()
