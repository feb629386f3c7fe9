"""Runs a model with ONNX Runtime and with attune on the same inputs and compares the outputs."""

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime

RUN_TIMEOUT_S = 300


@dataclass(frozen=True)
class Tolerance:
    """|attune - ort| <= rtol * |ort| + atol * max|ort| + floor, elementwise."""

    rtol: float = 1e-3
    atol: float = 1e-4
    floor: float = 1e-6  # what rounding leaves of a probability that was computed as 1 - p or by a sigmoid


FP32 = Tolerance()
FP16 = Tolerance(rtol=1e-2, atol=5e-3)  # the two round intermediate results at different places


@dataclass
class Outcome:
    error: float  # largest absolute difference
    share: float  # largest share of the allowed difference; <= 1 passes
    problem: str = ""


def compare(expected, actual, tolerance):
    """Compares {name: array} of ONNX Runtime with that of attune."""
    if set(expected) != set(actual):
        return Outcome(np.inf, np.inf, f"outputs {sorted(actual)}, expected {sorted(expected)}")
    worst = Outcome(0.0, 0.0)
    for name, want in expected.items():
        got = actual[name]
        if want.dtype != got.dtype or want.shape != got.shape:
            return Outcome(np.inf, np.inf, f"'{name}' is {got.dtype}{list(got.shape)}, "
                                           f"expected {want.dtype}{list(want.shape)}")
        if want.size == 0:
            continue
        if want.dtype.kind != "f":
            differing = int(np.count_nonzero(want != got))
            if differing:
                return Outcome(np.inf, np.inf, f"'{name}' differs in {differing} of {want.size} elements")
            continue
        want, got = want.astype(np.float64), got.astype(np.float64)
        same = (want == got) | (np.isnan(want) & np.isnan(got))
        if not np.all(np.isfinite(got) | same):
            return Outcome(np.inf, np.inf, f"'{name}' holds values that are not finite")
        difference = np.where(same, 0.0, np.abs(got - want))
        magnitude = np.where(np.isfinite(want), np.abs(want), 0.0)
        allowed = tolerance.rtol * magnitude + tolerance.atol * magnitude.max() + tolerance.floor
        worst.error = max(worst.error, float(difference.max()))
        worst.share = max(worst.share, float((difference / allowed).max()))
    if worst.share > 1:
        worst.problem = "differs"
    return worst


def run_ort(model, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def run_attune(attune, model, inputs):
    """Outputs by name; raises RuntimeError with attune's own words when it fails."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, **inputs)
        command = [str(attune), "run", str(model), "--inputs", str(source), "--output", str(result)]
        try:
            process = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False,
                                     timeout=RUN_TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(f"attune took more than {RUN_TIMEOUT_S} s") from error
        if process.returncode != 0:
            words = process.stderr.strip().splitlines() or [f"status {process.returncode}"]
            raise RuntimeError(f"exit {process.returncode}: {words[-1]}")
        with np.load(result) as archive:
            return {name: archive[name] for name in archive.files}


def describe(inputs):
    return " ".join(f"{name}:{'x'.join(map(str, np.shape(value))) or 'scalar'}" for name, value in inputs.items())


class Report:
    """Prints one line for each comparison and counts."""

    def __init__(self):
        self.passed = self.failed = 0
        print(f"{'verdict':8} {'max error':>10} {'of allowed':>10}  model and inputs")

    def add(self, label, outcome):
        passes = not outcome.problem
        self.passed += passes
        self.failed += not passes
        print(f"{'ok' if passes else 'FAIL':8} {outcome.error:10.2e} {outcome.share:9.1%}  {label}"
              + ("" if passes else f": {outcome.problem}"), flush=True)

    def compare_case(self, attune, model, label, inputs, tolerance=FP32):
        """A model that ONNX Runtime itself refuses is a mistake of the test, so that counts as a failure too."""
        label = f"{label} {describe(inputs)}"
        try:
            outcome = compare(run_ort(model, inputs), run_attune(attune, model, inputs), tolerance)
        except Exception as error:  # whatever went wrong belongs into this line of the report
            outcome = Outcome(np.inf, np.inf, " ".join(str(error).split())[:300])
        self.add(label, outcome)

    def close(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)
