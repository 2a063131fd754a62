"""Logs the run to trackio, conversation included; `trackio show` opens it."""
import json
from pathlib import Path
import pandas as pd, trackio

root = Path(__file__).parents[1]
manifest = json.loads((root / "MANIFEST.json").read_text(encoding="utf-8"))
config = json.loads((root / "events.jsonl").open(encoding="utf-8").readline())["manifest"]["settings"]
trackio.init(project="attt", name=manifest["run"], config=config)
for row in pd.read_parquet(root / "metrics.parquet").to_dict("records"):
    trackio.log({key: value for key, value in row.items() if key != "step" and value == value}, step=int(row["step"]))
messages = json.loads((root / "inspect.json").read_text(encoding="utf-8"))["samples"][0]["messages"]
trackio.log({"trajectory": trackio.Trace([{"role": m["role"], "content": m["content"]} for m in messages], metadata=manifest["facts"])})
trackio.finish()
