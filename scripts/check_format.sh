#!/usr/bin/env bash
# Fails when clang-format would change a C++ file. Repair with: scripts/check_format.sh --fix
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -d '' files < <(find src tests include examples -type f \( -name '*.cc' -o -name '*.h' \) -print0 2>/dev/null)
if ((${#files[@]} == 0)); then
  echo "format: no files found" >&2
  exit 1
fi
if [[ ${1:-} == --fix ]]; then
  clang-format -i "${files[@]}"
else
  clang-format --dry-run -Werror "${files[@]}"
fi
echo "format: ${#files[@]} files"
