"""Serves the base with the run's adapter by llama.cpp's llama-server, as an OpenAI-compatible endpoint.
Usage: python replay/serve_llama_cpp.py BASE.gguf [options of llama-server]"""
import os, shutil, sys
from pathlib import Path

adapter = Path(__file__).resolve().parents[1] / "adapter.gguf"
server = shutil.which("llama-server")
if server is None: raise SystemExit("llama-server is not on the PATH; build or install llama.cpp first.")
if not adapter.exists(): raise SystemExit(f"{adapter} is missing: this run kept no adapter.")
os.execv(server, [server, "-m", sys.argv[1], "--lora", str(adapter), *sys.argv[2:]])
