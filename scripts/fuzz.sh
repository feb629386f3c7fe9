#!/usr/bin/env bash
# Builds the libFuzzer targets with clang, AddressSanitizer and UndefinedBehaviorSanitizer and runs them side by side: the
# importer for the given number of seconds (60), the others for a third of it. The seed is fixed, so that a run can be repeated
# (ATTUNE_FUZZ_SEED=0 draws one). Findings and the grown corpus lie in build/fuzz/.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
scripts/build.sh fuzz --target fuzzers
mkdir -p build/fuzz/findings
names=() runs=()
for fuzzer in build/fuzz/tests/fuzz/fuzz_*; do
  [[ -x $fuzzer && ! -d $fuzzer ]] || continue
  name=$(basename "$fuzzer")
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  seeds=()
  [[ -d tests/fuzz/corpus/$name ]] && seeds=("tests/fuzz/corpus/$name")
  duration=$seconds
  [[ $name == fuzz_import ]] || duration=$(((seconds + 2) / 3))
  echo "$name: $duration s"
  "$fuzzer" -seed="${ATTUNE_FUZZ_SEED:-1}" -max_total_time="$duration" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/findings/$name-" "$corpus" "${seeds[@]}" >"build/fuzz/$name.log" 2>&1 &
  names+=("$name") runs+=($!)
done
if ((${#names[@]} == 0)); then
  echo "fuzz: no fuzz target was built" >&2
  exit 1
fi
status=0
for i in "${!names[@]}"; do
  if wait "${runs[$i]}"; then
    tail -n 12 "build/fuzz/${names[$i]}.log"
  else
    status=1
    echo "${names[$i]} found something:"
    tail -n 60 "build/fuzz/${names[$i]}.log"
  fi
done
exit "$status"
