#!/usr/bin/env python3
"""Runs backend_runner over the exported cases and writes or checks docs/onnx_coverage.md.

  coverage.py --runner build/release/tests/backend_runner --cases build/test/onnx_cases --write docs/onnx_coverage.md
  coverage.py --runner ...                                --cases ...                   --check docs/onnx_coverage.md

--check fails when a case fails that known_failures.txt does not list, when a listed one passes, when less than 97 % of
the plain cases pass, and when the page does not say what this run says.
"""

import argparse
import json
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import onnx
import onnx.defs

from export_cases import nodes_of

KINDS = ["node", "simple", "pytorch-operator", "pytorch-converted", "light"]
WANTED_PERCENT = 97.0
CASES_PER_PROCESS = 100
CASE_TIMEOUT_S = 120
KNOWN_FAILURES = Path(__file__).with_name("known_failures.txt")


def run_batch(runner, folders, flags=()):
    """Results of one runner process, or None and why when it did not end in order."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        command = [str(runner), *flags, "--json", str(report), *map(str, folders)]
        try:
            process = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False,
                                     timeout=CASE_TIMEOUT_S + 2 * len(folders))
        except subprocess.TimeoutExpired:
            return None, "took too long"
        if process.returncode < 0:
            return None, f"crashed with {signal.Signals(-process.returncode).name}"
        try:
            results = json.loads(report.read_text())
        except (OSError, ValueError):
            return None, (process.stderr.strip().splitlines() or ["no report"])[-1]
    seen = {result["name"] for result in results}
    if missing := [folder.name for folder in folders if folder.name not in seen]:
        return None, f"no result for {missing[0]}"
    return results, ""


def run_cases(runner, folders, flags=()):
    """{name: result}. A batch that dies is run again case by case, so that one crash costs one case only."""
    results = {}
    for start in range(0, len(folders), CASES_PER_PROCESS):
        batch = folders[start:start + CASES_PER_PROCESS]
        found, _ = run_batch(runner, batch, flags)
        if found is None:
            found = []
            for folder in batch:
                single, why = run_batch(runner, [folder], flags)
                found += single or [{"name": folder.name, "status": "failed", "reason": why}]
        results.update({result["name"]: result for result in found})
    return results


def load_cases(root):
    """{name: meta} with the operators of each case's model added."""
    cases = {}
    for path in sorted(root.glob("*/meta.json")):
        meta = json.loads(path.read_text())
        model = onnx.load(path.parent / "model.onnx", load_external_data=False)
        meta["operators"] = sorted({(node.domain, node.op_type) for node in nodes_of(model.graph)})
        cases[path.parent.name] = meta
    return cases


def known_failures():
    if not KNOWN_FAILURES.exists():
        return {}
    lines = (line.strip() for line in KNOWN_FAILURES.read_text().splitlines())
    return dict(line.split(None, 1) for line in lines if line and not line.startswith("#"))


def one_line(text, limit=200):
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= limit else text[:limit - 1] + "…"


def percent(part, whole):
    return f"{100.0 * part / whole:.2f} %" if whole else "–"


def totals_section(cases, results):
    lines = ["| set | cases | plain | passed | failed | excluded | passed of plain |", "|---|---:|---:|---:|---:|---:|---:|"]
    rows = [(kind, [name for name in cases if cases[name]["kind"] == kind]) for kind in KINDS]
    for kind, names in [*rows, ("**all**", list(cases))]:
        count = Counter(results[name]["status"] for name in names)
        plain = count["passed"] + count["failed"]
        lines.append(f"| {kind} | {len(names)} | {plain} | {count['passed']} | {count['failed']} | {count['excluded']} | "
                     f"{percent(count['passed'], plain)} |")
    return lines


def failed_section(results):
    known = known_failures()
    failed = [result for result in results.values() if result["status"] == "failed"]
    if not failed:
        return ["None."]
    return [f"- `{result['name']}`: {one_line(known.get(result['name'], result['reason']))}" for result in failed]


def excluded_section(results):
    by_reason = defaultdict(list)
    for result in results.values():
        if result["status"] == "excluded":
            by_reason[result["reason"]].append(result["name"])
    lines = []
    for reason in sorted(by_reason):
        names = sorted(by_reason[reason])
        lines += [f"### {reason} ({len(names)})", "", ", ".join(f"`{name}`" for name in names), ""]
    return lines[:-1] or ["None."]


def operators_section(cases, results):
    """For each domain: which operators occur in plain cases, and which of them pass everywhere.

    A failure counts against an operator only when the case has no other one: a case of ten operators does not say which.
    """
    outcome = defaultdict(set)
    for name, meta in cases.items():
        status = results[name]["status"]
        alone = len([operator for operator in meta["operators"] if operator != ("", "Constant")]) <= 1
        for operator in meta["operators"]:
            outcome[operator].add("tested" if status == "failed" and not alone else status)
    newest = {(schema.domain, schema.name) for schema in onnx.defs.get_all_schemas() if not schema.deprecated}
    lines = ["| domain | operators | with plain cases | all pass | some fail | without plain cases |", "|---|---:|---:|---:|---|---|"]
    for domain in sorted({operator[0] for operator in newest | set(outcome)}):
        names = sorted(name for space, name in newest | set(outcome) if space == domain)
        tested = [name for name in names if outcome[domain, name] & {"passed", "failed", "tested"}]
        failing = [name for name in tested if "failed" in outcome[domain, name]]
        untested = [name for name in names if name not in tested]
        lines.append(f"| {domain or 'ai.onnx'} | {len(names)} | {len(tested)} | {len(tested) - len(failing)} | "
                     f"{', '.join(failing) or '–'} | {', '.join(untested) or '–'} |")
    return lines


def page(cases, results):
    return "\n".join([
        "# ONNX coverage",
        "",
        f"Generated by `tests/onnx_backend/coverage.py` from the backend test cases of onnx {onnx.__version__} "
        f"(opset {onnx.defs.onnx_opset_version()}); `scripts/test.sh backend` checks it.",
        "A *plain* case is one whose values are all tensors of numbers.",
        "",
        "## Totals",
        "",
        *totals_section(cases, results),
        "",
        "## Operators",
        "",
        *operators_section(cases, results),
        "",
        "## Failed",
        "",
        *failed_section(results),
        "",
        "## Excluded",
        "",
        "Each of these is refused with an error that names the reason.",
        "",
        *excluded_section(results),
        "",
    ])


def comparable(text):
    """The page without the messages of failed cases, whose digits may differ from machine to machine."""
    return re.sub(r"^(- `[^`]+`): .*$", r"\1", text, flags=re.MULTILINE)


def check_page(path, text):
    """Problems of the committed page."""
    if not path.exists():
        return [f"{path} is missing; write it with --write"]
    committed = path.read_text()
    version = re.search(r"test cases of onnx (\S+) ", committed)
    if version and version.group(1) != onnx.__version__:
        print(f"{path} was made with onnx {version.group(1)}, this is {onnx.__version__}: contents not compared")
        return []
    if comparable(committed) != comparable(text):
        return [f"{path} does not say what this run says; write it anew with --write"]
    return []


def verdict(results):
    """Prints unexpected outcomes; returns (passed, failed, skipped). A known failure counts as skipped."""
    known = known_failures()
    passed = failed = skipped = 0
    for name, result in results.items():
        status = result["status"]
        if status == "excluded" or (status == "failed" and name in known):
            skipped += 1
        elif status == "passed" and name not in known:
            passed += 1
        else:
            failed += 1
            print(f"FAIL {name}: " + (one_line(result["reason"]) if status == "failed" else
                                      f"passes, but {KNOWN_FAILURES.name} lists it; remove it there"))
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runner", type=Path, required=True, help="the backend_runner executable")
    parser.add_argument("--cases", type=Path, required=True, help="folder made by export_cases.py")
    parser.add_argument("--json", type=Path, help="also write all results here")
    parser.add_argument("--write", type=Path, metavar="PAGE")
    parser.add_argument("--check", type=Path, metavar="PAGE")
    parser.add_argument("--session", action="store_true", help="run rewritten and planned, with every provider")
    options = parser.parse_args()

    cases = load_cases(options.cases)
    if not cases:
        sys.exit(f"coverage: no cases in {options.cases}; make them with export_cases.py")
    flags = ["--session"] if options.session else []
    results = run_cases(options.runner, [options.cases / name for name in cases], flags)
    if options.json:
        options.json.write_text(json.dumps(list(results.values()), indent=1) + "\n")
    text = page(cases, results)
    if options.write:
        options.write.write_text(text)

    passed, failed, skipped = verdict(results)
    count = Counter(result["status"] for result in results.values())
    share = 100.0 * count["passed"] / max(1, count["passed"] + count["failed"])
    print(f"{count['passed']} of {count['passed'] + count['failed']} plain cases pass ({share:.2f} %)")
    problems = check_page(options.check, text) if options.check else []
    if share < WANTED_PERCENT:
        problems.append(f"less than {WANTED_PERCENT} % of the plain cases pass")
    for problem in problems:
        print(f"FAIL {problem}")
    failed += len(problems)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
