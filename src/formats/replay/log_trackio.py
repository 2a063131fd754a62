"""Logs the run to trackio, conversation included; `trackio show` opens it."""
import json
import trackio
from run import manifest, metrics, root, settings

trackio.init(project="attt", name=manifest["run"], config=settings)
for step, row in metrics():
    trackio.log(row, step=step)
messages = json.loads((root / "inspect.json").read_text(encoding="utf-8"))["samples"][0]["messages"]
said = [{"role": message["role"], "content": message["content"]} for message in messages]
trackio.log({"trajectory": trackio.Trace(said, metadata=manifest["facts"])})
trackio.finish()
