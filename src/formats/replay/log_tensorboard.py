"""Writes the run as TensorBoard events. Usage: python replay/log_tensorboard.py [LOGDIR]"""
import json, sys
from pathlib import Path
import pandas as pd
from torch.utils.tensorboard import SummaryWriter

root = Path(__file__).parents[1]
manifest = json.loads((root / "MANIFEST.json").read_text(encoding="utf-8"))
writer = SummaryWriter(Path(sys.argv[1] if len(sys.argv) > 1 else "tensorboard") / manifest["run"])
writer.add_text("config", "```toml\n" + (root / "config.toml").read_text(encoding="utf-8") + "\n```")
for row in pd.read_parquet(root / "metrics.parquet").to_dict("records"):
    for key, value in row.items():
        if key != "step" and value == value:
            writer.add_scalar(key, value, int(row["step"]))
writer.close()
