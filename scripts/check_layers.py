#!/usr/bin/env python3
"""Checks that each room under src/ includes only itself and the rooms before it, and vendor headers only in their folder.

Prints `file:line: reason` for every violation and fails. `--self-test` proves on made-up files that it can fail.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

# From the ground up; docs/architecture.md says what lives where.
ROOMS = [
    "base", "graph", "io", "ops", "onnx", "zoo", "rewrite", "device", "space", "kernel", "codegen", "providers", "bank",
    "tune", "runtime", "train", "data", "insight", "report", "api", "cli",
]

# (what a header's name looks like, folder under src/ that may include it)
VENDOR_HEADERS = [
    (re.compile(r"(^|/)onnx(-ml)?\.pb\.h$|^google/protobuf/"), "onnx"),
    (re.compile(r"^(jpeglib|png|openjpeg)\.h$|^webp/"), "ops"),
    (re.compile(r"^(oneapi/)?dnnl"), "providers/onednn"),
    (re.compile(r"^(clang|llvm)(-c)?/"), "codegen/cpu"),
    (re.compile(r"^nvrtc\.h$"), "codegen/cuda"),
    (re.compile(r"^cublasLt\.h$"), "providers/cublaslt"),
    (re.compile(r"^cudnn"), "providers/cudnn"),
    (re.compile(r"^(sqlite3|libpq-fe)\.h$"), "bank"),
    (re.compile(r"^CLI/"), "cli"),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
SOURCE_SUFFIXES = {".h", ".cc", ".cpp", ".inc", ".cu"}


def check_include(src, path, quote, header):
    """The reason why `path` must not include `header`, or None."""
    inside = path.relative_to(src)
    room = inside.parts[0]
    for pattern, folder in VENDOR_HEADERS:
        if pattern.search(header):
            if inside.is_relative_to(folder):
                return None
            return f"vendor header '{header}' belongs to src/{folder} only; go through that folder's interface"
    if quote == "<":
        return None
    if header.startswith((".", "/")):
        return f"include '{header}' relative to src/, as in '{room}/...'"
    target = header.split("/")[0]
    if target not in ROOMS:
        return f"'{header}' names no room; known rooms: {', '.join(ROOMS)}"
    if ROOMS.index(target) > ROOMS.index(room):
        return f"room '{room}' must not include '{header}': '{target}' lies above it"
    return None


def check_tree(src):
    violations, files = [], 0
    for path in sorted(src.rglob("*")):
        if path.suffix not in SOURCE_SUFFIXES or not path.is_file():
            continue
        files += 1
        room = path.relative_to(src).parts[0]
        if room not in ROOMS:
            violations.append(f"{path}:1: '{room}' is not a room; add it to the list in scripts/check_layers.py")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            match = INCLUDE.match(line)
            if not match:
                continue
            reason = check_include(src, path, *match.groups())
            if reason:
                violations.append(f"{path}:{number}: {reason}")
    return files, violations


def self_test():
    cases = [  # file, line, is it allowed
        ("ops/a.cc", '#include "graph/graph.h"', True),
        ("ops/a.cc", '#include "ops/op.h"', True),
        ("ops/a.cc", "#include <vector>", True),
        ("onnx/a.cc", '#include "onnx/onnx-ml.pb.h"', True),
        ("onnx/a.cc", "#include <onnx/onnx-ml.pb.h>", True),
        ("cli/a.cc", "#include <CLI/CLI.hpp>", True),
        ("tune/a.cc", '#include "bank/store.h"', True),
        ("graph/a.h", '#include "ops/op.h"', False),
        ("graph/a.h", '  #  include "ops/op.h"', False),
        ("bank/a.h", '#include "tune/job.h"', False),
        ("base/a.cc", '#include "cli/main.h"', False),
        ("runtime/a.cc", '#include "onnx/onnx-ml.pb.h"', False),
        ("runtime/a.cc", "#include <google/protobuf/message.h>", False),
        ("ops/a.cc", '#include "../graph/graph.h"', False),
        ("ops/a.cc", '#include "nowhere/a.h"', False),
        ("attic/a.cc", "", False),
    ]
    failed = 0
    for name, line, allowed in cases:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.parent.mkdir(parents=True)
            path.write_text(f"// first line\n{line}\n")
            _, violations = check_tree(Path(folder))
            if (not violations) != allowed:
                failed += 1
                print(f"self-test: {name} with {line!r} should be {'allowed' if allowed else 'refused'}")
            elif violations and line and ":2: " not in violations[0]:
                failed += 1
                print(f"self-test: {name}: wrong line in '{violations[0]}'")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--self-test", action="store_true", help="prove that violations are found")
    parser.add_argument("--src", type=Path, default=Path(__file__).resolve().parent.parent / "src")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    files, violations = check_tree(options.src)
    print("\n".join(violations), end="\n" if violations else "")
    if not files:
        print(f"no source files under {options.src}")
        return 1
    print(f"layers: {files} files, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
