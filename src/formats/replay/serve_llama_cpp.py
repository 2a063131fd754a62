"""Serves the base with the run's adapter by llama.cpp, as an OpenAI-compatible endpoint: by llama-server where it is
on the PATH, else by llama-cpp-python[server].
Usage: python replay/serve_llama_cpp.py BASE.gguf [options of that server]"""
import importlib.util, shutil, subprocess, sys
from pathlib import Path

adapter = Path(__file__).resolve().parents[1] / "adapter.gguf"
if not adapter.exists(): raise SystemExit(f"{adapter} is missing: this run kept no adapter.")
base, options = sys.argv[1], sys.argv[2:]
if server := shutil.which("llama-server"):
    command = [server, "-m", base, "--lora", str(adapter), *options]
elif importlib.util.find_spec("llama_cpp"):
    command = [sys.executable, "-m", "llama_cpp.server", "--model", base, "--lora_path", str(adapter), *options]
else:
    raise SystemExit("Neither llama-server nor llama-cpp-python[server] is here; install one of the two first.")
raise SystemExit(subprocess.call(command))
