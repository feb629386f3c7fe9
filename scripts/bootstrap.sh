#!/usr/bin/env bash
# Installs what attune needs on Debian 12, and only what is missing: packages by apt, Python tools by pip into .venv.
# A run that has nothing to do takes a fraction of a second.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'TEXT'
usage: scripts/bootstrap.sh [--build-only]

Installs what is missing to build, run and test attune on Debian 12.

  --build-only   only what building and running needs, nothing for the tests
  --help         this text
TEXT
}

mode=tests
for argument in "$@"; do
  case "$argument" in
    --build-only) mode=build ;;
    --help|-h) usage; exit 0 ;;
    *) echo "bootstrap: unknown option '$argument'; see --help" >&2; exit 2 ;;
  esac
done

build_packages=(
  g++ cmake ninja-build ccache
  protobuf-compiler libprotobuf-dev nlohmann-json3-dev libcli11-dev libfmt-dev
  zlib1g-dev libsqlite3-dev libjpeg62-turbo-dev libpng-dev libwebp-dev libopenjp2-7-dev libdnnl-dev libxgboost-dev
  libclang-19-dev libclang-cpp19-dev llvm-19-dev
  python3 python3-venv
)
# libclang-rt and libomp: the fuzzer is built by clang, with its sanitizers and its own omp.h. chromium looks at report pages.
test_packages=(libgtest-dev clang-format clang-tidy clang-14 libclang-rt-14-dev libomp-14-dev chromium)

install_packages() {
  local missing=() package
  local installed
  installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null) || true
  for package in "$@"; do
    grep -qxF "installed $package" <<<"$installed" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local as_root=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || {
      echo "bootstrap: missing packages: ${missing[*]}; install them as root, or install sudo" >&2
      exit 1
    }
    as_root=(sudo)
  fi
  printf 'bootstrap: installing %s (apt)\n' "${missing[@]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --quiet --quiet --no-install-recommends "${missing[@]}" >/dev/null
}

# The stamp holds the hash of the requirements it was made from, so editing them triggers an update.
stamp_of() { cat "$@" | sha256sum | cut -d' ' -f1; }

pip_install() {
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input "$@"
}

make_environment() {
  echo "bootstrap: creating .venv"
  rm -rf .venv
  python3 -m venv .venv
}

repair=()
install_requirements() {
  local file packages
  for file in "$@"; do
    packages=$(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$file" | tr '\n' ' ')
    echo "bootstrap: installing ${packages% } (pip)"
    if [[ $file == scripts/requirements.txt ]]; then
      pip_install "${repair[@]}" --requirement "$file" || return 1
    else
      pip_install "${repair[@]}" --no-deps --requirement "$file" || return 1
    fi
  done
}

python_tools() {
  local stamp=.venv/attune-$mode.stamp files=(scripts/requirements.txt scripts/requirements-models.txt) wanted
  [[ $mode == tests ]] || files=(scripts/requirements-build.txt)
  wanted=$(stamp_of "${files[@]}")
  if [[ -x .venv/bin/python ]]; then
    if [[ -f $stamp && "$(cat "$stamp")" == "$wanted" ]]; then return 0; fi
    # What the tests need includes what a build needs.
    if [[ $mode == build && -f .venv/attune-tests.stamp ]]; then return 0; fi
  fi
  if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    make_environment
  elif ! compgen -G '.venv/attune-*.stamp' >/dev/null; then
    repair=(--force-reinstall)  # an earlier run was interrupted: what lies there may be incomplete
  fi
  if ! install_requirements "${files[@]}"; then
    echo "bootstrap: pip failed; trying once more in a new .venv" >&2
    make_environment
    repair=()
    install_requirements "${files[@]}"
  fi
  echo "$wanted" >"$stamp"
}

packages=("${build_packages[@]}")
[[ $mode == build ]] || packages+=("${test_packages[@]}")
install_packages "${packages[@]}"
python_tools
