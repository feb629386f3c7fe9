#!/usr/bin/env bash
# Installs the peers into bench/peers/.venv. What cannot be had is skipped: run.py says so.
set -euo pipefail
cd "$(dirname "$0")"
python3 -m venv .venv
.venv/bin/pip install -q numpy onnx onnxruntime
.venv/bin/pip install -q openvino || echo "openvino could not be installed"
.venv/bin/pip install -q torch onnx2torch || echo "torch or onnx2torch could not be installed"
