# SPDX-License-Identifier: Apache-2.0
#
# What ./demo, ./test and tools/nightly share; sourced by them, from the repository's root.

if [[ -t 1 ]]; then
  bold=$'\e[1m' red=$'\e[31m' plain=$'\e[0m'
else
  bold="" red="" plain=""
fi

# Else ccache keeps nothing that was made with a precompiled header, and preprocesses all that is new to it.
export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1

# step TEXT: says what comes next, and how long the script has run, in minutes and seconds.
step() {
  printf '%s==> %d:%02d %s%s\n' "$bold" $((SECONDS / 60)) $((SECONDS % 60)) "$*" "$plain"
}

# problem TEXT: says what is wrong, without ending the script.
problem() {
  printf '%s%s: %s%s\n' "$red" "$(basename "$0")" "$*" "$plain" >&2
}

# quietly COMMAND...: keeps the output to itself, and shows all of it if the command fails.
quietly() {
  local log status=0
  log="$(mktemp)"
  "$@" >"$log" 2>&1 || status=$?
  [[ $status -eq 0 ]] || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

# install_packages [SECTION]
install_packages() {
  [[ -n ${CAIRN_SKIP_PACKAGES:-} ]] || tools/install-packages "$@"
}

# build_folder PRESET
build_folder() {
  if [[ $1 == release ]]; then echo build; else echo "build/$1"; fi
}

# configure PRESET [OPTION...]: cmake, with ccache where it is installed. All scripts configure alike, so that
# none makes another one rebuild.
configure() {
  local launcher
  launcher="$(command -v ccache || true)"
  quietly cmake --preset "$1" "-DCMAKE_C_COMPILER_LAUNCHER=$launcher" \
    "-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher" "${@:2}"
}

# build PRESET [TARGET...]: everything, or these targets.
build() {
  local folder
  folder="$(build_folder "$1")"
  quietly ninja -C "$folder" "${@:2}"
}

# programs_with_label PRESET LABEL: the programs of these tests; each is a target of this name. What follows a
# colon says with which setting (cairn_test_again).
programs_with_label() {
  ctest --test-dir "$(build_folder "$1")" --label-regex "^$2\$" --show-only |
    sed -n 's/^ *Test *#[0-9]*: \([^ :]*\).*/\1/p' | sort -u
}

# need_screen: an X server that nobody sees, if there is none. It ends with the last program on it; what is in
# `background` the caller ends.
need_screen() {
  [[ -z ${DISPLAY:-} ]] || return 0
  local numbers number
  exec {numbers}< <(exec Xvfb -displayfd 1 -screen 0 640x480x24 -nolisten tcp -terminate 2>/dev/null)
  background+=($!)
  read -r number <&"$numbers"
  export DISPLAY=":$number"
}

# choose_lavapipe: with several Vulkan drivers installed, the tests and the demo use lavapipe: it is
# on every machine, and a hang on it disturbs nobody. A choice that the caller made stands.
choose_lavapipe() {
  [[ -z ${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-} ]] || return 0
  local folder file
  for folder in "${XDG_DATA_HOME:-${HOME:-/nonexistent}/.local/share}" /etc /usr/local/share \
                /usr/share; do
    for file in "$folder"/vulkan/icd.d/lvp_icd*.json; do
      if [[ -r $file ]]; then
        # The loader's name for it since 1.3.207, and the one before.
        export VK_DRIVER_FILES="$file" VK_ICD_FILENAMES="$file"
        return 0
      fi
    done
  done
  problem "lavapipe's lvp_icd*.json is in no vulkan/icd.d folder; run tools/install-packages"
  return 1
}

# without_address_randomisation COMMAND...: ThreadSanitizer refuses the address-space layouts of
# kernels that randomise with many bits. Where that cannot be switched off, tries it as it is.
without_address_randomisation() {
  if setarch "$(uname -m)" -R true 2>/dev/null; then
    setarch "$(uname -m)" -R "$@"
  else
    "$@"
  fi
}

# sanitized PRESET LABEL: builds the tests with this label with this preset and runs them; test-results of the build
# folder has what tools/count-tests counts.
sanitized() {
  local preset="$1" label="$2" folder names results
  folder="$(build_folder "$preset")"
  results="$PWD/$folder/test-results"
  rm -rf "$results"
  configure "$preset" || return 1
  mapfile -t names < <(programs_with_label "$preset" "$label")
  build "$preset" "${names[@]}" || return 1
  mkdir -p "$results"
  quietly without_address_randomisation env GTEST_OUTPUT="json:$results/" ctest --test-dir "$folder" \
    --label-regex "^$label\$" --parallel 2 --output-on-failure --no-tests=error --output-junit "$results/ctest.xml"
}

# run_tests BUILD RESULTS ROOT CTEST_OPTION... [-- COMMAND...]: runs the tests of a build folder, by COMMAND, and leaves in
# RESULTS what tools/count-tests counts. ROOT stands before absolute paths that the tests are given. What failed and is
# worth a second run (tools/count-tests --again) is run once more.
run_tests() {
  local build="$1" results="$PWD/$2" root="$3" options=() again
  shift 3
  while [[ $# -gt 0 && $1 != -- ]]; do options+=("$1"); shift; done
  shift
  rm -rf "$results"
  mkdir -p "$results/again"
  options+=(--parallel 2 --output-on-failure --no-tests=error)
  quietly "$@" env GTEST_OUTPUT="json:$root$results/" ctest --test-dir "$build" "${options[@]}" \
    --output-junit "$results/ctest.xml" && return
  again="$(tools/count-tests --again "$results" "$build")" || return
  step "once more: $again"
  quietly "$@" env GTEST_OUTPUT="json:$root$results/again/" ctest --test-dir "$build" "${options[@]}" \
    --tests-regex "$again" --output-junit "$results/again/ctest.xml"
}
