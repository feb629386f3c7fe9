#!/usr/bin/env bash
# The short tour: installs what is missing, builds attune, looks at the machine, tunes ResNet-50 from the zoo for a minute
# (ATTUNE_DEMO_BUDGET), and measures and runs the plan.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/bootstrap.sh --build-only
scripts/build.sh release --target attune_cli

attune=build/release/attune
out=build/demo
mkdir -p "$out"

show() {
  printf '\n$ attune %s\n' "$*"
  "$attune" "$@"
}

show doctor
show zoo list
show inspect zoo:resnet50
show why zoo:resnet50 /layer1.0/conv2/Conv
show tune zoo:resnet50 --budget "${ATTUNE_DEMO_BUDGET:-60s}" --bank "$out/bank.sqlite" --output "$out/resnet50"
show bench "$out/resnet50/tuned.plan"
show run "$out/resnet50/tuned.plan" --seed 1 --output "$out/resnet50.npz"
printf '\nThe report is %s, the plan beside it.' "$out/resnet50/report.html"
printf '\nThe outputs are in %s, under their ONNX names:\n' "$out/resnet50.npz"
ls -l "$out/resnet50.npz"
