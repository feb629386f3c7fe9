#!/usr/bin/env python3
"""Measures attune against its peers, interleaved. See README.md beside this file."""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PYTHON = HERE / ".venv/bin/python"
PEERS = ["onnxruntime", "openvino", "torch", "torch.compile"]
MODELS = ["resnet18", "resnet50", "mobilenetv2", "shufflenetv2", "yolov5s", "bert_base", "gpt2", "vit_b16", "lstm_tagger", "lenet", "mlp"]

MAKE_INPUTS = """
import json, sys
import numpy as np, onnx
model, path = sys.argv[1:]
rng = np.random.default_rng(1)
graph = onnx.load(model).graph
tables = {}
weights = {t.name: t.dims for t in graph.initializer}
for node in graph.node:
    if node.op_type == 'Gather' and node.input[0] in weights:
        tables[node.input[1]] = min(tables.get(node.input[1], 1 << 62), weights[node.input[0]][0])
out = {}
for value in graph.input:
    shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
    if value.type.tensor_type.elem_type == 1:
        out[value.name] = rng.standard_normal(shape).astype(np.float32)
    else:
        out[value.name] = rng.integers(0, tables.get(value.name, 2), shape).astype(np.int64)
np.savez(path, **out)
"""

COMPARE = """
import json, sys
import numpy as np
ours, theirs = (dict(np.load(p)) for p in sys.argv[1:])
worst = 0.0
for name, expected in theirs.items():
    if name in ours and expected.size:
        scale = max(float(np.abs(expected).max()), 1e-12)
        worst = max(worst, float(np.abs(ours[name].astype(np.float64) - expected.astype(np.float64)).max()) / scale)
print(worst)
"""


class Worker:
    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen(
            [str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.samples = []
        self.reason = ""
        line = self.process.stdout.readline()
        if line.strip() != "ready":
            self.reason = (self.process.stderr.read().strip().splitlines() or ["ended without a word"])[-1][:120]
            self.process.wait()

    def take(self, runs):
        # The first run after others had the machine finds cold caches and sleeping threads; it does not count.
        self.process.stdin.write(f"{runs + 1}\n")
        self.process.stdin.flush()
        times = json.loads(self.process.stdout.readline())[1:]
        self.samples.append(sorted(times)[len(times) // 2])

    def peak_mb(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        return 0.0

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def interval(values):
    """95 % confidence of the median, by order statistics."""
    ordered, n = sorted(values), len(values)
    half = 1.96 * n**0.5 / 2
    return ordered[max(0, int(n / 2 - half))], ordered[min(n - 1, int(n / 2 + half))]


def from_zoo(model, batch, attune, folder):
    """Name, model and inputs of a zoo model."""
    path, inputs = folder / f"{model}.onnx", folder / "inputs.npz"
    subprocess.run([attune, "zoo", model, "-o", path, "--batch", str(batch)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([PYTHON, "-c", MAKE_INPUTS, path, inputs], check=True)
    return model, path, inputs


def from_file(path, folder):
    """Name, model and inputs of an ONNX file whose shapes are numbers."""
    inputs = folder / "inputs.npz"
    subprocess.run([PYTHON, "-c", MAKE_INPUTS, path, inputs], check=True)
    return pathlib.Path(path).stem, path, inputs


def tune(path, inputs, options, folder):
    """The plan of a tuning into a fresh bank."""
    command = [options.attune, "tune", path, "--inputs", inputs, "--threads", options.threads, "--dtype", options.dtype]
    command += ["--budget", options.tune, "--job", options.job, "--bank", folder / "bank.sqlite", "--output", folder / "tuned"]
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder / "tuned/tuned.plan"


def measure(model, path, inputs, options, folder):
    threads, dtype, attune = options.threads, options.dtype, options.attune
    ours = folder / "attune.npz"
    plan = tune(path, inputs, options, folder) if options.tune else path
    own = ["--inputs", inputs, "--threads", threads]
    own_dtype = [] if options.tune else ["--dtype", dtype]  # a plan has its own
    run = [attune, "run", plan, "--output", ours, *own, *own_dtype]
    subprocess.run([str(part) for part in run], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tolerance = 1e-3 if dtype == "f32" else 1e-1
    workers = [Worker("attune", [attune, "bench", plan, "--paced", *own, *own_dtype])]
    if options.tune:
        workers.append(Worker("attune untuned", [attune, "bench", path, "--paced", *own, "--dtype", dtype]))
    if dtype != "f32" and options.own_f32:
        workers.append(Worker("attune f32", [attune, "bench", path, "--inputs", inputs, "--threads", threads, "--paced"]))
    for peer in [p for p in options.peers.split(",") if p]:
        out = folder / f"{peer}.npz"
        worker = Worker(peer, [PYTHON, HERE / "worker.py", peer, path, inputs, out, threads, dtype])
        if not worker.reason:
            error = float(subprocess.check_output([PYTHON, "-c", COMPARE, ours, out]))
            if not error <= tolerance:
                worker.reason = f"outputs differ by {error:.1e} of the largest"
                worker.end()
        workers.append(worker)
    running = [w for w in workers if not w.reason]
    for worker in running:  # as many runs a turn as fit into about 50 ms
        worker.take(3)
    turns = {w.name: max(1, min(20, int(50 / max(w.samples[0], 0.01)))) for w in running}
    for worker in running:
        worker.samples.clear()
    order = random.Random(1)
    for _ in range(options.rounds):
        order.shuffle(running)
        for worker in running:
            worker.take(turns[worker.name])
    base = workers[0].samples
    rows = []
    for worker in workers:
        if worker.reason:
            rows.append({"model": model, "batch": options.batch, "dtype": dtype, "peer": worker.name, "reason": worker.reason})
            continue
        ratios = [theirs / ours_ms for theirs, ours_ms in zip(worker.samples, base)]
        low, high = interval(ratios)
        rows.append(
            {
                "model": model,
                "batch": options.batch,
                "dtype": dtype,
                "peer": worker.name,
                "median_ms": median(worker.samples),
                "ratio": median(ratios),
                "ratio_low": low,
                "ratio_high": high,
                "peak_mb": worker.peak_mb(),
            }
        )
        worker.end()
    return rows


def print_rows(rows, file=sys.stdout):
    print("| model | batch | peer | median ms | time against attune | peak MB |", file=file)
    print("|---|---|---|---|---|---|", file=file)
    for row in rows:
        if "reason" in row:
            print(f"| {row['model']} | {row['batch']} | {row['peer']} | – | {row['reason']} | |", file=file)
        else:
            ratio = f"{row['ratio']:.2f}x ({row['ratio_low']:.2f} to {row['ratio_high']:.2f})"
            print(
                f"| {row['model']} | {row['batch']} | {row['peer']} | {row['median_ms']:.2f} | {ratio} | {row['peak_mb']:.0f} |", file=file
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attune", default=str(ROOT / "build/release/attune"))
    parser.add_argument("--models", default=",".join(MODELS), help="of the zoo, or ONNX files whose shapes are numbers")
    parser.add_argument("--real", action="store_true", help="the models that Python packages ship instead of the zoo's")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--own-f32", action="store_true", help="with --dtype bf16: attune in f32 as one more peer")
    parser.add_argument("--tune", metavar="BUDGET", help="tune each model this long first, such as 60s; untuned attune is one more peer")
    parser.add_argument("--job", default="opat", help="what --tune tunes: opat, sgat or all")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--output", help="JSON file for the rows")
    options = parser.parse_args()
    if not PYTHON.exists():
        sys.exit("the peers are not installed; run bench/peers/setup.sh")
    rows = []
    with tempfile.TemporaryDirectory() as real_folder:
        names = options.models.split(",")
        if options.real:
            listed = subprocess.check_output([ROOT / ".venv/bin/python", ROOT / "tests/real_models/inputs.py", real_folder])
            names = json.loads(listed)
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                if options.real:
                    model = name["name"], name["model"], name["inputs"]
                elif name.endswith(".onnx"):
                    model = from_file(name, folder)
                else:
                    model = from_zoo(name, options.batch, options.attune, folder)
                new = measure(*model, options, folder)
            rows += new
            print_rows(new)
            sys.stdout.flush()
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
