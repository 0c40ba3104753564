#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The part of tools/wine-env that runs inside of its root.
#   wine_env_inside.sh make                       installs, and makes the prefixes
#   wine_env_inside.sh run PREFIX COMMAND...      with an X server, in the prefix d3d12 or d3d11
#   wine_env_inside.sh check PREFIX PROGRAMS      within run: what programs find there; PROGRAMS: their folder

set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
source tools/steps.sh

export LANG=C.UTF-8  # what Wine takes for the names of files
export WINEDEBUG="${WINEDEBUG:--all}"
export VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd.json
export DXVK_LOG_LEVEL=none
export VKD3D_CONFIG=virtual_heaps  # descriptors ten times as fast on lavapipe

# start_screen: an X server; its number is in DISPLAY.
start_screen() {
  local number screen
  exec {screen}< <(exec Xvfb -displayfd 1 -screen 0 1280x1024x24 -nolisten tcp -noreset 2>/tmp/Xvfb.log)
  if ! read -r -t 60 number <&"$screen"; then
    problem "Xvfb does not start:"
    cat /tmp/Xvfb.log >&2
    exit 1
  fi
  export DISPLAY=":$number"
}

use_prefix() {
  export WINEPREFIX="/wine/$1" CAIRN_WINE_PREFIX="/wine/$1"
}

# Wine's own processes would keep the output of the first program open, and whoever reads that would wait for them.
start_wine() {
  wineserver --persistent
  wine wineboot </dev/null >/dev/null 2>&1
}

# set_value KEY NAME TEXT: in the registry.
set_value() {
  quietly wine reg add "$1" /v "$2" /d "$3" /f
}

# make_prefix NAME
make_prefix() {
  use_prefix "$1"
  mkdir -p "$WINEPREFIX"
  # Neither Mono nor Gecko: Wine would ask for them.
  WINEDLLOVERRIDES="mscoree,mshtml=" quietly wine wineboot --init
  # A debugger would keep a program that crashed.
  set_value 'HKCU\Software\Wine\DllOverrides' winedbg.exe ""
  set_value 'HKCU\Software\Wine\DllOverrides' winemenubuilder.exe ""
  set_value 'HKCU\Software\Wine\DllOverrides' mscoree ""
  set_value 'HKCU\Software\Wine\DllOverrides' mshtml ""
  # Xvfb has modes without a refresh rate, by which Present divides.
  set_value 'HKCU\Software\Wine\X11 Driver' UseXRandR N
}

# DXVK in place of Wine's own. Debian's files are libraries of Linux, which Wine loads under the name of a DLL.
add_dxvk() {
  local file name
  for file in /usr/lib/dxvk/wine64/*.dll.so; do
    name="$(basename "$file" .dll.so)"
    cp "$file" "$WINEPREFIX/drive_c/windows/system32/$name.dll"
    set_value 'HKCU\Software\Wine\DllOverrides' "$name" native
  done
}

make() {
  tools/install-packages wine-env
  apt-get clean
  rm -rf /wine
  start_screen
  make_prefix d3d12
  make_prefix d3d11
  add_dxvk
  wineserver --wait
}

# check PREFIX PROGRAMS: a device of each interface, and a program that we did not write.
check() {
  local ours="$PWD/build/windows/tests/windows" wanted="$1" status=0
  if [[ $1 == d3d12 ]]; then
    wine --version
    wanted="vulkan d3d12"
  fi
  wine "$ours/devices.exe" $wanted || status=1
  # It writes beside itself.
  cp "$2/imgui-$1.exe" /tmp
  cd /tmp
  wine "$ours/watch-window.exe" 10 "imgui-$1.exe" || status=1
  return "$status"
}

case "${1:-}" in
  make) make ;;
  check) check "$2" "$3" ;;
  run)
    use_prefix "$2"
    start_screen
    start_wine
    status=0
    "${@:3}" || status=$?
    wineserver --kill || true  # it writes the registry then
    exit "$status"
    ;;
  *) problem "wants make, run or check; tools/wine-env calls it"; exit 2 ;;
esac
