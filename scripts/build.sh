#!/usr/bin/env bash
# Configures and builds one preset (release unless named) with all cores; further arguments go to cmake --build.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
shift || true

# The generator of an existing build folder cannot be changed, so it is only chosen for a new one.
generator=()
if [[ ! -f build/$preset/CMakeCache.txt ]] && command -v ninja >/dev/null; then generator=(-G Ninja); fi

cmake --preset "$preset" "${generator[@]}" --log-level=WARNING
cmake --build --preset "$preset" --parallel "$(nproc)" "$@"
