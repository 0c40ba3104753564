#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests `tools/wine-env --ready` with folders that look like environments. Makes none.

set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
export CAIRN_WINE_ENV="$scratch/environment"
root="$CAIRN_WINE_ENV/root"

# expect STATUS CASE
expect() {
  local status=0 output
  output="$(tools/wine-env --ready 2>&1)" || status=$?
  [[ $status -eq $1 && -z $output ]] && return
  echo "$2: exit status $status instead of $1, output '$output'" >&2
  exit 1
}

expect 1 "no environment"
[[ ! -e $CAIRN_WINE_ENV ]] || { echo "--ready made $CAIRN_WINE_ENV" >&2; exit 1; }
mkdir -p "$root"
cat tools/wine_env_inside.sh tools/install-packages packages.txt | sha256sum >"$root/.made-by"
expect 1 "a root that is not complete"
touch "$root/.complete"
expect 0 "today's environment"
echo "of other packages" >"$root/.made-by"
expect 1 "an environment of other packages"
rm "$root/.made-by"
expect 1 "an environment whose making failed"
