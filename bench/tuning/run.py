#!/usr/bin/env python3
"""Tunes models several times, each time into a fresh bank, and says what came of it.

    bench/tuning/run.py resnet50                                    # about three minutes
    bench/tuning/run.py --all --budget 180s --repeats 5 --repeat-winner --table docs/performance/tuning.md

Every run is appended to a file of JSON lines as soon as it is done; the same command again goes on from there. After
each tuning the plan and the untuned model run in processes of their own, in turn: the figure of the table does not rest
on the tuner's word. With --repeat-winner the plans of the repeats run against each other: winners have to be the same or
to tie.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from paced import median, race  # noqa: E402: found by the line above

MODELS = ["resnet50", "mobilenetv2", "shufflenetv2", "yolov5s", "bert_base", "gpt2", "vit_b16"]
TIE = 0.02  # plans that differ by less are called equal whatever the interval says


def seconds_of(text):
    return float(text[:-1]) * {"s": 1, "m": 60, "h": 3600}[text[-1]] if text[-1] in "smh" else float(text)


def race_models(options, first, second):
    flags = ["--threads", options.threads]
    return race((options.attune, first, flags), (options.attune, second, flags), options.check_s)


def tune_once(options, model, repeat, folder):
    """One tuning into a fresh bank, in a folder that keeps its plan."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [options.attune, "tune", f"zoo:{model}", "--budget", options.budget, "--bank", folder / "bank.sqlite"]
    command += ["--output", folder / "result", "--events", folder / "events.jsonl", "--threads", options.threads]
    command += ["--format", "json", "--seed", repeat]
    begin = time.monotonic()
    with open(folder / "stdout.json", "w") as out, open(folder / "stderr.txt", "w") as err:
        process = subprocess.Popen([str(part) for part in command], stdout=out, stderr=err)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
    wall_s = time.monotonic() - begin
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        raise RuntimeError(f"tuning {model} ended with {code}: {(folder / 'stderr.txt').read_text()[-400:]}")
    return wall_s, usage.ru_maxrss / 1024


def read_events(folder):
    with open(folder / "events.jsonl") as file:
        return [json.loads(line) for line in file]


def gain_time(events):
    """When 95 % of the final gain was there: what was chosen by then, by all that was measured of it until the end."""
    looks = [(look["t"], look["ratio"]) for event in events if event["event"] == "convergence" for look in event["looks"]]
    final = [event for event in events if event["event"] == "end"][-1]
    if not final["applied"] or not looks:
        return None
    return next(t for t, ratio in looks if ratio - 1 >= 0.95 * (looks[-1][1] - 1) or t == looks[-1][0])


def winners_of(folder):
    """By workload: the kernel that won."""
    found = {}
    for path in sorted((folder / "result/op_tuning").glob("*.json")):
        for task in json.loads(path.read_text()):
            if "after" in task:
                found[task["workload"]] = task["after"]
    return found


def measure(options, model, repeat, folder):
    wall_s, peak_mb = tune_once(options, model, repeat, folder)
    summary = json.loads((folder / "stdout.json").read_text())
    events = read_events(folder)
    row = {
        "kind": "tuning",
        "model": model,
        "budget": options.budget,
        "threads": options.threads,
        "repeat": repeat,
        "wall_s": wall_s,
        "peak_mb": peak_mb,
        "applied": summary["applied"],
        "conclusion": summary["conclusion"],
        "end": summary["end"],
        "trials": summary["trials"],
        "failed_trials": summary["failed_trials"],
        "noise_floor": summary["noise_floor"],
        "gain_95_s": gain_time(events),
        "kernels": len(winners_of(folder)) if summary["applied"] else 0,
    }
    for name in ("before_ms", "after_ms", "speedup", "speedup_interval"):
        row[name] = summary.get(name)
    if summary["applied"]:
        row["check"] = race_models(options, f"zoo:{model}", folder / "result/tuned.plan")
    return row


def compare_repeats(options, model, folders):
    """Each further repeat against the first: the same kernels, or plans that tie."""
    rows = []
    first = winners_of(folders[0])
    for repeat, folder in enumerate(folders[1:], start=2):
        row = {"kind": "winner", "model": model, "budget": options.budget, "threads": options.threads, "repeat": repeat}
        row["same"] = winners_of(folder) == first
        if not row["same"]:
            plans = [one / "result/tuned.plan" for one in (folders[0], folder)]
            row["race"] = race_models(options, *plans)
            low, high = row["race"]["low"], row["race"]["high"]
            row["tied"] = low <= 1 <= high or abs(math.log(row["race"]["ratio"])) < TIE
        rows.append(row)
    return rows


class Log:
    """Rows on disk, each written as soon as it is known."""

    def __init__(self, path):
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.rows = []
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    self.rows.append(json.loads(line))
                except json.JSONDecodeError:
                    print(f"{path}: a line that was cut off is left out", file=sys.stderr)

    def find(self, kind, model, options):
        return [
            row
            for row in self.rows
            if (row["kind"], row["model"], row["budget"], row["threads"]) == (kind, model, options.budget, options.threads)
        ]

    def add(self, row):
        self.rows.append(row)
        with open(self.path, "a") as file:
            file.write(json.dumps(row) + "\n")
            file.flush()
            os.fsync(file.fileno())


def ratio_text(ratio, low, high):
    return f"{ratio:.3f}x ({low:.3f} to {high:.3f})"


def table_of(options, log):
    lines = [
        "| model | runs | untuned ms | speed-up in the tuner, median (least to largest) | checked in processes of their own, median (least to largest) | slower beyond noise | kernels | 95 % of the gain after | wall clock | peak MB | repeated winner |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    gains = []
    for model in options.models:
        rows = log.find("tuning", model, options)
        if not rows:
            continue
        tuner = [row["speedup"] if row["applied"] else 1.0 for row in rows]
        checked = [row["check"]["ratio"] if row.get("check") else 1.0 for row in rows]
        gains.append(median(checked))
        slower = sum(1 for row in rows if row.get("check") and row["check"]["high"] < 1)
        before = [row["before_ms"] for row in rows if row["before_ms"]]
        times = [row["gain_95_s"] for row in rows if row["gain_95_s"] is not None]
        winners = log.find("winner", model, options)
        same, tied = sum(row["same"] for row in winners), sum(bool(row.get("tied")) for row in winners)
        cells = [
            model,
            str(len(rows)),
            f"{median(before):.2f}" if before else "–",
            ratio_text(median(tuner), min(tuner), max(tuner)),
            ratio_text(median(checked), min(checked), max(checked)),
            f"{slower} of {len(rows)}",
            "/".join(str(row["kernels"]) for row in rows),
            f"{median(times):.0f} s" if times else "no gain",
            f"{median([row['wall_s'] for row in rows]):.0f} s",
            f"{max(row['peak_mb'] for row in rows):.0f}",
            f"{same} same, {tied} tied of {len(winners)}" if winners else "–",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    if gains:
        lines.append("")
        lines.append(
            f"Geometric mean of the checked speed-ups of {len(gains)} models: "
            f"{math.exp(sum(math.log(gain) for gain in gains) / len(gains)):.3f}x "
            f"(budget {options.budget}, {options.threads} threads, fp32, batch 1)."
        )
    return "\n".join(lines)


def write_table(path, text):
    """Between two marks where the page has them, so that what people wrote around it stays."""
    begin, end = "<!-- table: bench/tuning -->", "<!-- end of table -->"
    block = f"{begin}\n{text}\n{end}"
    page = path.read_text() if path.exists() else f"# Tuning\n\n{begin}\n{end}\n"
    if begin in page and end in page:
        page = page[: page.index(begin)] + block + page[page.index(end) + len(end) :]
    else:
        page += "\n" + block + "\n"
    path.write_text(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="names of the zoo")
    parser.add_argument("--all", action="store_true", help=", ".join(MODELS))
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--check-s", type=float, default=14, help="seconds of interleaved runs after each tuning")
    parser.add_argument("--repeat-winner", action="store_true", help="compare the winners of the repeats")
    parser.add_argument("--attune", type=pathlib.Path, default=ROOT / "build/release/attune")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/bench/tuning", help="folder for banks, plans and the rows")
    parser.add_argument("--table", type=pathlib.Path, help="page to write the table into")
    options = parser.parse_args()
    seconds_of(options.budget)
    options.models = MODELS if options.all else options.models
    if not options.models:
        parser.error("name models of the zoo, or --all")
    log = Log(options.work / "rows.jsonl")
    failures = 0
    # Repeats outside, models inside: an interruption leaves something of every model.
    for repeat in range(1, options.repeats + 1):
        for model in options.models:
            if any(row["repeat"] == repeat for row in log.find("tuning", model, options)):
                continue
            try:
                row = measure(options, model, repeat, options.work / f"{model}-{options.budget}-{repeat}")
            except (RuntimeError, OSError, KeyError, ValueError) as error:
                failures += 1
                print(f"{model}, repeat {repeat}: {error}", file=sys.stderr)
                continue
            log.add(row)
            check = f"; checked {row['check']['ratio']:.3f}x" if row.get("check") else ""
            print(f"{model} {repeat}: {row['conclusion']}{check} ({row['wall_s']:.0f} s, {row['trials']} trials)", flush=True)
    if options.repeat_winner:
        for model in options.models:
            done = {row["repeat"] for row in log.find("winner", model, options)}
            folders = [options.work / f"{model}-{options.budget}-{repeat}" for repeat in range(1, options.repeats + 1)]
            if len(done) >= options.repeats - 1 or not all((folder / "result/tuned.plan").exists() for folder in folders):
                continue
            for row in compare_repeats(options, model, folders):
                if row["repeat"] not in done:
                    log.add(row)
    text = table_of(options, log)
    print(text)
    if options.table:
        write_table(options.table, text)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
