"""What the other scripts read of this run: its manifest, settings, events and metrics, and its model with an adapter."""
import json
from pathlib import Path

root = Path(__file__).resolve().parents[1]
manifest = json.loads((root / "MANIFEST.json").read_text(encoding="utf-8"))

def json_lines(name):
    return [json.loads(line) for line in (root / name).open(encoding="utf-8")]

events = json_lines("events.jsonl")
settings = events[0]["manifest"]["settings"]

def metrics():
    """(step, what was measured there) for each row of metrics.parquet."""
    import pandas as pd
    for row in pd.read_parquet(root / "metrics.parquet").to_dict("records"):
        yield int(row.pop("step")), {name: value for name, value in row.items() if value == value}

def load_model(base, adapter):
    """The base, a GGUF file or a Hugging Face id, in float32, with one of the bundle's adapter folders to be trained."""
    import peft, torch, transformers
    gguf = {"gguf_file": Path(base).name} if base.endswith(".gguf") else {}
    weights = transformers.AutoModelForCausalLM.from_pretrained(Path(base).parent if gguf else base, dtype=torch.float32, **gguf)
    weights.is_quantized = False  # a GGUF file was dequantised on loading
    return peft.PeftModel.from_pretrained(weights, root / adapter, is_trainable=True).eval()
