#!/usr/bin/env bash
# Bootstrap, build and all tests. Every step runs even when an earlier one failed; the last line is the sum of them all:
# `N passed, N failed`. Logs lie in build/test/. Arguments name the steps to run; all when none are given.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

build=build/release
work=build/test
python=.venv/bin/python
fuzz_seconds=${ATTUNE_FUZZ_SECONDS:-60}
mkdir -p "$work"

steps=()        # names, in order
declare -A action
add_step() { steps+=("$1"); action[$1]=$2; }

passed=0 failed=0 skipped=0
failed_steps=()

# A check passes or fails as a whole.
as_one() {
  if "$@"; then echo "1 passed, 0 failed"; else echo "0 passed, 1 failed"; return 1; fi
}

step_unit() {
  local log=$work/ctest.txt
  ctest --test-dir "$build" --parallel "$(nproc)" --output-on-failure --no-tests=error | tee "$log"
  local status=${PIPESTATUS[0]}
  # "98% tests passed, 2 tests failed out of 100"
  local line total bad skip
  line=$(grep -E 'tests failed out of [0-9]+' "$log") || return 1
  bad=$(sed -E 's/.* ([0-9]+) tests failed out of.*/\1/' <<<"$line")
  total=$(sed -E 's/.*out of ([0-9]+).*/\1/' <<<"$line")
  skip=$(grep -cE '\*\*\*(Skipped|Not Run \(Disabled\))' "$log")
  echo "$((total - bad - skip)) passed, $bad failed, $skip skipped"
  return "$status"
}

step_layers() {
  as_one both python3 scripts/check_layers.py --self-test python3 scripts/check_layers.py
}
both() { "$1" "$2" "$3" >/dev/null && "$4" "$5"; }

step_format() { as_one scripts/check_format.sh; }
step_tidy() { python3 scripts/check_tidy.py --build "$build"; }
step_docs() { $python scripts/check_docs.py --attune "$build/attune"; }

step_install() { $python tests/install/check.py --build "$build" --work "$work/install"; }

step_tuner_faults() { $python tests/tuner_faults/kill_tuner.py --attune "$build/attune" --kills 10; }

step_memory() { $python tests/memory/check_peak.py --attune "$build/attune"; }

export_cases() { $python tests/onnx_backend/export_cases.py "$work/onnx_cases"; }

step_backend() {
  export_cases &&
    $python tests/onnx_backend/coverage.py --runner "$build/tests/backend_runner" --cases "$work/onnx_cases" \
      --json "$work/onnx_cases.json" --check docs/onnx_coverage.md
}

# The same cases the way users run models: rewritten, planned, with every provider.
step_sessions() {
  { [[ -d $work/onnx_cases ]] || export_cases; } &&
    $python tests/onnx_backend/coverage.py --runner "$build/tests/backend_runner" --cases "$work/onnx_cases" --session
}

step_real_models() { $python tests/real_models/compare.py --attune "$build/attune"; }
step_quantised() { $python tests/quantised/compare_with_ort.py --attune "$build/attune"; }
step_zoo() { $python tests/zoo/compare_with_ort.py --attune "$build/attune"; }

step_bad_models() {
  $python tests/bad_models/make_bad_models.py "$work/bad_models" &&
    $python tests/bad_models/make_bad_inputs.py "$work/bad_inputs" &&
    $python tests/bad_models/run.py --attune "$build/attune" "$work/bad_models" "$work/bad_inputs"
}

step_report() { $python tests/report/check_page.py --attune "$build/attune" --work "$work/report"; }

step_fuzz() { as_one scripts/fuzz.sh "$fuzz_seconds"; }

# Uses what the others leave of the machine, from its turn on; its result is counted in the end.
beside=tidy

add_step unit step_unit
add_step layers step_layers
add_step format step_format
add_step tidy step_tidy
add_step docs step_docs
add_step install step_install
add_step tuner_faults step_tuner_faults
add_step memory step_memory
add_step backend step_backend
add_step sessions step_sessions
add_step real_models step_real_models
add_step zoo step_zoo
add_step quantised step_quantised
add_step bad_models step_bad_models
add_step report step_report
add_step fuzz step_fuzz

# Runs one step with its log, and keeps its status and how long it took.
do_step() {
  local name=$1 started=$SECONDS
  rm -f "$work/$name.status"
  (set +e; "${action[$name]}") >"$work/$name.log" 2>&1
  echo "$? $((SECONDS - started))" >"$work/$name.status"
}

# Adds what the closing line of a step says. A step that ends badly without a failure of its own to
# show, or without a closing line, counts as one failure: nothing is ever silently zero.
count_step() {
  local name=$1 log=$work/$1.log status=1 seconds=0 closing p=0 f=0 s=0
  [[ -f $work/$name.status ]] && read -r status seconds <"$work/$name.status"
  closing=$(grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log" | tail -n 1)
  if [[ -n $closing ]]; then
    read -r p f s < <(sed -E 's/([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?/\1 \2 \4/' <<<"$closing")
    s=${s:-0}
  fi
  if ((f == 0)) && { ((status != 0)) || [[ -z $closing ]]; }; then f=1; fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  if ((f > 0)); then
    failed_steps+=("$name")
    echo "   (the end of $log)"
    tail -n 60 "$log" | sed 's/^/   /'
  fi
  printf '   %s: %d passed, %d failed, %d skipped in %d s\n' "$name" "$p" "$f" "$s" "$seconds"
}

# Preparation counts only when it fails.
prepare() {
  local name=$1 started=$SECONDS
  shift
  echo "== $name"
  if ! "$@"; then
    failed=$((failed + 1))
    failed_steps+=("$name")
  fi
  printf '   %s in %d s\n' "$name" "$((SECONDS - started))"
}

chosen=("$@")
((${#chosen[@]})) || chosen=("${steps[@]}")
for name in "${chosen[@]}"; do
  if [[ -z ${action[$name]:-} ]]; then
    echo "test: unknown step '$name'; known: ${steps[*]}" >&2
    exit 2
  fi
done

prepare bootstrap scripts/bootstrap.sh
prepare build scripts/build.sh release
for name in "${chosen[@]}"; do
  echo "== $name"
  if [[ $name == "$beside" ]]; then
    (renice -n 10 $BASHPID >/dev/null; do_step "$name") &
    continue
  fi
  do_step "$name"
  count_step "$name"
done
if [[ " ${chosen[*]} " == *" $beside "* ]]; then
  wait
  count_step "$beside"
fi

((failed == 0)) || echo "failed: ${failed_steps[*]}"
if ((skipped > 0)); then
  echo "$passed passed, $failed failed, $skipped skipped"
else
  echo "$passed passed, $failed failed"
fi
((failed == 0))
