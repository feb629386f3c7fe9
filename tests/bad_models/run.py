#!/usr/bin/env python3
"""Runs attune on bad models and bad inputs and checks how it refuses them.

Each command must end with the expected exit code, say so in one `attune: error:` message on stderr that holds the
expected words, leave no output file, and stay under 256 MiB and 2 seconds. Nothing heavy is imported here: the peak
memory that the kernel reports for a child begins with that of its parent.
"""

import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

MOST_BYTES = 256 << 20
MOST_SECONDS = 2.0
KILL_AFTER_SECONDS = 20.0
LONGEST_MESSAGE = 8192
TRACES = re.compile(r"terminate called|Sanitizer|runtime error:|^\s*#\d+ |Segmentation fault|Assertion|core dumped", re.MULTILINE)


class Ran:
    """One finished process."""

    def __init__(self, command, folder):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            started = time.monotonic()
            process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            timer = threading.Timer(KILL_AFTER_SECONDS, process.kill)
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)  # so that Popen does not wait again
            self.seconds = time.monotonic() - started
            self.exit = process.returncode
            self.cpu_seconds = usage.ru_utime + usage.ru_stime
            self.bytes = usage.ru_maxrss * 1024
            err.seek(0)
            self.stderr = err.read(1 << 20).decode("utf-8", "replace")


def ending(code):
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"


def problems_of(ran, expected, words, file, limits):
    """What is wrong with the way a command ended. The model's own path does not count as mentioning a word."""
    found = []
    if ran.exit not in expected:
        found.append(f"{ending(ran.exit)}, expected {' or '.join(map(str, expected))}")
    if TRACES.search(ran.stderr):
        found.append("printed a trace instead of a message")
    if ran.exit != 0:
        if not ran.stderr.startswith("attune: error:"):
            found.append("stderr does not begin with 'attune: error:'")
        lower = (ran.stderr.replace(file, "") if file else ran.stderr).lower()
        found += [f"does not mention {word}" for word in words
                  if not any(choice.lower() in lower for choice in word.split("|"))]
        if len(ran.stderr) > LONGEST_MESSAGE:
            found.append(f"the message has {len(ran.stderr)} characters")
    if limits and ran.bytes > MOST_BYTES:
        found.append(f"took {ran.bytes >> 20} MiB")
    if limits and ran.seconds > MOST_SECONDS and ran.cpu_seconds > MOST_SECONDS / 2:  # else the machine was busy
        found.append(f"took {ran.seconds:.1f} s, {ran.cpu_seconds:.1f} s of them computing")
    return found


def check(attune, arguments, folder, expected, words, file, options):
    """Problems of one command line, run with an output file that must not appear when it fails."""
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "out.npz"
        writes = arguments[0] == "run" and "--output" not in arguments
        command = [str(attune), *arguments, *(["--output", str(output)] if writes else [])]
        ran = Ran(command, folder)
        found = problems_of(ran, expected, words, file, not options.no_limits)
        if writes and ran.exit != 0 and any(Path(scratch).iterdir()):
            found.append("left an output file behind")
        if writes and ran.exit == 0 and not output.exists():
            found.append("wrote no output file")
    return found, ran


def checks_of(entry):
    """(label, arguments, expected exit codes, words) for each command of a manifest entry."""
    if "arguments" in entry:
        yield entry["name"], entry["arguments"], entry["expected_exit"], entry["must_mention"]
        return
    file, expected = entry["file"], entry["expected_exit"]
    yield f"run {file}", ["run", file], expected, entry["must_mention"]
    inspect = expected if entry["inspect_must_fail"] else sorted({0, *expected})
    yield f"inspect {file}", ["inspect", file], inspect, entry["must_mention"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attune", type=Path, default=Path("build/release/attune"))
    parser.add_argument("--only", default="", help="only entries whose name contains this")
    parser.add_argument("--verbose", action="store_true", help="print every message")
    parser.add_argument("--no-limits", action="store_true", help="no limits of time and memory, for sanitized builds")
    parser.add_argument("folders", type=Path, nargs="+", help="made by make_bad_models.py or make_bad_inputs.py")
    options = parser.parse_args()

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    attune = options.attune.resolve()
    passed = failed = most_bytes = 0
    for folder in options.folders:
        for entry in json.loads((folder / "manifest.json").read_text()):
            for label, arguments, expected, words in checks_of(entry):
                if options.only not in label:
                    continue
                found, ran = check(attune, arguments, folder, expected, words, entry.get("file"), options)
                passed += not found
                failed += bool(found)
                most_bytes = max(most_bytes, ran.bytes)
                if found or options.verbose:
                    print(f"{'FAIL' if found else 'ok'} {label}: {'; '.join(found)}", flush=True)
                    print(f"     {ran.stderr.strip()[:500]}")
    leftovers = [str(path) for folder in options.folders for path in folder.rglob("hacked")]
    if leftovers:
        failed += 1
        print(f"FAIL an input file was executed: {leftovers}")
    print(f"peak memory of a command: {most_bytes >> 20} MiB")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
