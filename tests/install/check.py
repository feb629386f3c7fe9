#!/usr/bin/env python3
"""Installs a build, builds the examples against the installed tree with find_package(attune), runs them and compares what
they print with `attune run`. Also checks that the library shows nothing but the public interface."""

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parent.parent.parent
MODEL = "zoo:mobilenetv2:size=64"


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def install(options):
    shutil.rmtree(options.work, ignore_errors=True)
    call("cmake", "--install", options.build, "--prefix", options.prefix)
    for wanted in ["bin/attune", "include/attune/attune.h", "include/attune/tuner.h"]:
        if not (options.prefix / wanted).exists():
            raise RuntimeError(f"{wanted} was not installed")
    call(options.prefix / "bin/attune", "--version")


def build_examples(options):
    # Ninja, as scripts/build.sh: a bare machine has no make.
    for example in ["classify", "layernorm"]:
        call("cmake", "-G", "Ninja", "-S", ROOT / "examples" / example, "-B", options.work / example,
             f"-DCMAKE_PREFIX_PATH={options.prefix}", "-DCMAKE_BUILD_TYPE=Release",
             "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wshadow -Wconversion -Werror")
        call("cmake", "--build", options.work / example, "--parallel", "2")


def classify_as_attune_run(options):
    image = numpy.random.default_rng(1).standard_normal((1, 3, 64, 64)).astype("float32")
    image.tofile(options.work / "image.f32")
    numpy.save(options.work / "image.npy", image)
    attune = options.prefix / "bin/attune"
    name = first_input(attune)
    call(attune, "run", MODEL, "--input", f"{name}={options.work / 'image.npy'}", "--output", options.work / "out.npz")
    scores = next(iter(numpy.load(options.work / "out.npz").values())).ravel()
    best = sorted(range(len(scores)), key=lambda i: -scores[i])[:5]
    expected = "".join(f"{i} {scores[i]:.9g}\n" for i in best)
    printed = call(options.work / "classify/classify", MODEL, options.work / "image.f32")
    if printed != expected:
        raise RuntimeError(f"classify printed\n{printed}but 'attune run' gives\n{expected}")


def first_input(attune):
    """The name of the model's first input."""
    text = call(attune, "inspect", MODEL, "--format", "json")
    return re.search(r'"inputs":\s*\[\s*\{\s*"name":\s*"([^"]+)"', text).group(1)


def refuse_a_missing_file(options):
    done = subprocess.run([str(options.work / "classify/classify"), "no_such.onnx", "no_such.f32"],
                          capture_output=True, text=True)
    if done.returncode != 1 or "no_such.onnx" not in done.stderr:
        raise RuntimeError(f"a missing model gave {done.returncode}: {done.stderr}")


def run_concurrently(options):
    printed = call(options.work / "classify/concurrent", MODEL)
    if "0 differ" not in printed:
        raise RuntimeError(printed)


def tune_a_layernorm(options):
    record = options.work / "record.json"
    printed = call(options.work / "layernorm/layernorm", record)
    for wanted in ["8x256:", "128x768:", "1024x1024:", "apply: measured at rows=128, columns=768", "(right)",
                   "apply: rows=100, columns=800 was not measured; this is what was best at rows=128, columns=768"]:
        if wanted not in printed:
            raise RuntimeError(f"layernorm did not print '{wanted}' but\n{printed}")
    trials = [len(shape["trials"]) for shape in json.loads(record.read_text())["shapes"]]
    again = call(options.work / "layernorm/layernorm", record)
    if [len(shape["trials"]) for shape in json.loads(record.read_text())["shapes"]] != trials:
        raise RuntimeError(f"the same call again measured more than before: {again}")
    if sum(trials) > 60 or min(trials) < 2:
        raise RuntimeError(f"{trials} trials of 60")


def show_only_the_interface(options):
    library = next(options.prefix.glob("lib*/**/libattune.so"))
    names = [line.split(" ", 2)[-1] for line in call("nm", "-D", "-C", "--defined-only", library).splitlines()]
    ours = [name for name in names if "attune::" in name]
    # Symbols read "T attune::v1::…"; the standard library shows weak tables of types whatever the flags.
    wrong = [name for name in names if "attune::v1::" not in name and not re.search(r"(^| )std::", name)]
    if not ours or wrong:
        raise RuntimeError(f"{len(wrong)} foreign symbols of {len(names)} are visible: {wrong[:5]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--work", type=Path, default=ROOT / "build/test/install")
    options = parser.parse_args()
    options.work = options.work.resolve()
    options.prefix = options.work / "prefix"
    passed = failed = 0
    for check in [install, build_examples, classify_as_attune_run, refuse_a_missing_file, run_concurrently,
                  tune_a_layernorm, show_only_the_interface]:
        try:
            check(options)
            passed += 1
        except Exception as error:  # whatever it is, it is reported and the next check runs
            print(f"{check.__name__}: {error}")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
