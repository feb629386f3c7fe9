#!/usr/bin/env python3
"""Runs clang-tidy over the sources under src/, in parallel, and remembers clean files by a hash of all they depend on.

The hash covers the file, every header under src/ that it includes, its compile command, .clang-tidy and the version of
clang-tidy; a rerun therefore looks only at what changed.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def project_headers(path, seen):
    """All headers under src/ that `path` includes, directly or not."""
    for name in INCLUDE.findall(path.read_text(encoding="utf-8", errors="replace")):
        header = ROOT / "src" / name
        if header not in seen and header.is_file():
            seen.add(header)
            project_headers(header, seen)
    return seen


def key_of(path, command, version):
    digest = hashlib.sha256()
    digest.update(version.encode())
    digest.update(command.encode())
    for part in [ROOT / ".clang-tidy", path, *sorted(project_headers(path, set()))]:
        digest.update(str(part.relative_to(ROOT)).encode())
        digest.update(part.read_bytes())
    return digest.hexdigest()


def commands_in(build):
    """{file: compile command} for the sources under src/."""
    database = build / "compile_commands.json"
    if not database.is_file():
        sys.exit(f"check_tidy: {database} is missing; configure first with 'cmake --preset release'")
    commands = {}
    for entry in json.loads(database.read_text()):
        path = Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(ROOT / "src"):
            commands[path] = entry.get("command") or shlex.join(entry["arguments"])
    return commands


def tidy(path, build):
    result = subprocess.run(
        ["clang-tidy", "--quiet", "-p", str(build), str(path)], capture_output=True, text=True, check=False)
    findings = result.stdout.strip()
    if result.returncode != 0 and not findings:
        findings = result.stderr.strip() or f"clang-tidy ended with status {result.returncode}"
    return result.returncode, findings


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="build folder with the commands")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("files", type=Path, nargs="*", help="only these files; all when none are given")
    options = parser.parse_args()

    commands = commands_in(options.build)
    if options.files:
        wanted = {path.resolve() for path in options.files}
        commands = {path: command for path, command in commands.items() if path in wanted}
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
    cache = ROOT / "build/tidy"
    cache.mkdir(parents=True, exist_ok=True)

    keys = {path: key_of(path, command, version) for path, command in commands.items()}
    stale = [path for path in sorted(keys) if not (cache / keys[path]).exists()]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, (status, findings) in zip(stale, pool.map(lambda path: tidy(path, options.build), stale)):
            if status == 0:
                (cache / keys[path]).touch()
                continue
            failed += 1
            print(f"--- {path.relative_to(ROOT)}\n{findings}", flush=True)
    print(f"clang-tidy: {len(commands)} files, {len(commands) - len(stale)} unchanged since they were clean")
    print(f"{len(commands) - failed} passed, {failed} failed")
    return 1 if failed or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
