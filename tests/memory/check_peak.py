#!/usr/bin/env python3
"""Compares the memory that `attune bench` states (weights and activations) with what the process really took at its peak,
and a limit just above and below it with what --memory-limit does."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MODELS = ["resnet50", "bert_base"]
TOLERANCE = 0.08  # the weights that are being packed exist twice for a moment


def run(words):
    """(exit code, stdout, stderr, peak of resident bytes) of a child process."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        actions = [(os.POSIX_SPAWN_DUP2, out.fileno(), 1), (os.POSIX_SPAWN_DUP2, errors.fileno(), 2)]
        child = os.posix_spawn(str(words[0]), [str(word) for word in words], os.environ, file_actions=actions)
        _, status, usage = os.wait4(child, 0)
        out.seek(0), errors.seek(0)
        return os.waitstatus_to_exitcode(status), out.read().decode(), errors.read().decode(), usage.ru_maxrss * 1024


def bench(attune, model, *flags):
    return run([attune, "bench", model, "--seconds", "0.01", "--warmup", "1", "--format", "json", *flags])


def stated(text):
    answer = json.loads(text)
    return answer["weight_bytes"] + answer["arena_bytes"]


def check(attune, model, file, idle):
    """What is wrong, one string for each."""
    code, text, errors, peak = bench(attune, file)
    if code != 0:
        yield f"{model}: {errors}"
        return
    said, took = stated(text), peak - idle
    print(f"{model}: states {said / 1e6:.1f} MB, took {took / 1e6:.1f} MB ({took / said - 1:+.1%})")
    if abs(took / said - 1) > TOLERANCE:
        yield f"{model}: states {said} bytes but took {took} at its peak"
    code, _, errors, _ = bench(attune, file, "--memory-limit", str(said + 1))
    if code != 0:
        yield f"{model}: refused under a limit that suffices: {errors}"
    for verb in (["run"], ["bench"], ["plan", "-o", os.devnull]):
        code, _, errors, _ = run([attune, verb[0], file, *verb[1:], "--memory-limit", str(said - 1)])
        if code != 2 or "raise the limit" not in errors:
            yield f"{model}: '{verb[0]}' under too small a limit gave {code}: {errors}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attune", type=Path, default=ROOT / "build/release/attune")
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder, "lenet.onnx")
        subprocess.run([options.attune, "zoo", "lenet", "-o", small], check=True, capture_output=True)
        _, text, _, peak = bench(options.attune, small)
        idle = peak - stated(text)  # code, libraries and buffers of a process that runs next to nothing
        for model in MODELS:
            file = Path(folder, f"{model}.onnx")
            subprocess.run([options.attune, "zoo", model, "-o", file], check=True, capture_output=True)
            problems = [*check(options.attune, model, file, idle)]
            for problem in problems:
                print(problem)
            passed, failed = passed + (not problems), failed + bool(problems)
            file.unlink()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
