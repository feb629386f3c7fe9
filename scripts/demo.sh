#!/usr/bin/env bash
# The short tour: installs what is missing, builds attune, looks at the machine, and plans, measures and
# runs ResNet-50 from the zoo.
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
show bench zoo:resnet50
show plan zoo:resnet50 -o "$out/resnet50.plan"
show bench "$out/resnet50.plan"
show run zoo:resnet50 --seed 1 --output "$out/resnet50.npz"
printf '\nThe outputs are in %s, under their ONNX names:\n' "$out/resnet50.npz"
ls -l "$out/resnet50.npz"
