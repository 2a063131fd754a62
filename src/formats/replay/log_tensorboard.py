"""Writes the run as TensorBoard events. Usage: python replay/log_tensorboard.py [LOGDIR]"""
import sys
from pathlib import Path
from torch.utils.tensorboard import SummaryWriter
from run import manifest, metrics, root

writer = SummaryWriter(Path(sys.argv[1] if len(sys.argv) > 1 else "tensorboard") / manifest["run"])
writer.add_text("config", "```toml\n" + (root / "config.toml").read_text(encoding="utf-8") + "\n```")
for step, row in metrics():
    at = row.pop("time", None)
    for name, value in row.items():
        writer.add_scalar(name, value, step, walltime=at)
writer.close()
