"""Writes the reference files of the formats tests (pip install gguf numpy safetensors).

Run from the repository root; the outputs under e2e/fixtures are committed.
"""

import json
import pathlib

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter
from gguf.quants import quantize
from safetensors.numpy import save

FIXTURES = pathlib.Path("e2e/fixtures")


def encode():
    """Values with exact ties, tiny and huge magnitudes and a block of zeros, encoded by gguf-py."""
    rng = np.random.default_rng(7)
    values = np.concatenate(
        [
            rng.normal(0, 1, 64),
            np.arange(32) - 15.5,
            np.zeros(32),
            rng.normal(0, 1e-6, 32),
            np.linspace(-127, 127, 32),
            rng.normal(0, 3e3, 32),
        ]
    ).astype(np.float32)
    out = {"values_f32_hex": values.tobytes().hex()}
    for name in ("Q8_0", "F16", "BF16"):
        out[name] = quantize(values, GGMLQuantizationType[name]).tobytes().hex()
    path = FIXTURES / "families" / "quant_encode.json"
    path.write_text(json.dumps(out) + "\n")


def container():
    """One GGUF file with every kind of metadata value that our writer writes."""
    path = FIXTURES / "cases" / "gguf_py.gguf"
    writer = GGUFWriter(str(path), "llama")
    writer.add_uint32("a.uint32", 4294967295)
    writer.add_int32("a.int32", -5)
    writer.add_float32("a.float32", 0.1)
    writer.add_uint64("a.uint64", 2**40 + 1)
    writer.add_float64("a.float64", 0.1)
    writer.add_bool("a.bool", True)
    writer.add_string("a.string", "\ufeffdé 🙂")
    writer.add_array("a.strings", ["", "Ġa", "▁b"])
    writer.add_array("a.int32s", [1, -1, 3])
    writer.add_array("a.float32s", [0.5, -1.25])
    writer.add_tensor("one", np.arange(6, dtype=np.float32).reshape(2, 3))
    writer.add_tensor(
        "two",
        quantize(np.arange(64, dtype=np.float32).reshape(2, 32), GGMLQuantizationType.Q8_0),
        raw_dtype=GGMLQuantizationType.Q8_0,
    )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def safetensors():
    """A file by the safetensors library; its own order of tensors (by name, then by type)."""
    tensors = {
        "b": np.array([[1.5, -2.0], [0.25, 8.0]], dtype=np.float32),
        "a": np.array([0.5, -1.0, 65504.0], dtype=np.float16),
        "c": np.zeros((0, 3), dtype=np.float32),
    }
    path = FIXTURES / "cases" / "python.safetensors"
    path.write_bytes(save(tensors, metadata={"format": "pt"}))


def shards():
    """The tiny model in three files, as gguf-py splits it: engine/tiny-0000N-of-00003.gguf."""
    reader = GGUFReader(str(FIXTURES / "engine" / "tiny.gguf"))
    most = -(-len(reader.tensors) // 3)
    path = FIXTURES / "engine" / "tiny.gguf"
    writer = GGUFWriter(str(path), "llama", split_max_tensors=most)
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key == "general.architecture":
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind == GGUFValueType.ARRAY else None
        writer.add_key_value(key, field.contents(), kind, inner)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    encode()
    shards()
    container()
    safetensors()
