# SPDX-License-Identifier: Apache-2.0
#
# Root folders with a Debian of another release: what tools/in-debian and tools/wine-env share. Sourced by them,
# after steps.sh.

# can_make_debian_root: else says what is missing.
can_make_debian_root() {
  if [[ $EUID -ne 0 ]]; then
    problem "a root folder can only be made and entered by root"
  elif ! command -v debootstrap >/dev/null; then
    problem "debootstrap is missing; apt-get install debootstrap"
  elif ! unshare --mount --pid --net --ipc --fork true 2>/dev/null; then
    problem "this machine lets nobody have mounts, processes and sockets of his own: unshare --mount --pid --net --ipc failed"
  else
    return 0
  fi
  return 1
}

# make_debian_root SUITE ROOT: complete, or not there. Says on stderr what it does.
make_debian_root() {
  local suite="$1" root="$2"
  [[ ! -e $root/.complete ]] || return 0
  step "debootstrap $suite" >&2
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  quietly debootstrap --variant=minbase "$suite" "$root" || return 1
  touch "$root/.complete"
}

# Runs inside of the namespaces, as their first process: when it ends, everything that was started here ends, and
# every mount is gone.
enter_debian_root='
  set -e
  root=$1 folder=$2 count=$3
  shift 3
  for shared in "${@:1:count}"; do
    mkdir -p "$root$shared"
    mount --rbind "$shared" "$root$shared"
  done
  shift "$count"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/dev/shm"
  mount --bind /sys "$root/sys"
  mount -t proc proc "$root/proc"
  # Of a network of its own: programs ask each other at 127.0.0.1.
  ip link set lo up || echo "debian_root: nobody can be asked at 127.0.0.1 there" >&2
  [[ ! -e /etc/resolv.conf ]] || cat /etc/resolv.conf >"$root/etc/resolv.conf"
  # A job in the background is deaf for ^C; the command is not.
  env --default-signal=INT,QUIT chroot "$root" bash -c '\''cd "$1" && shift && exec "$@"'\'' - "$folder" "$@"
  exit 0  # or bash would become the command, and a first process is deaf for signals
'

# in_debian_root ROOT FOLDER COMMAND...: runs COMMAND in FOLDER of ROOT, with its own environment and the folders
# of the array `shared_folders` under the same names; exits with its status. `own_namespaces` has options of unshare
# for what else COMMAND shall have to itself. Whatever ends this, kill -9 too, nothing keeps running and nothing stays
# mounted.
shared_folders=()
own_namespaces=()
in_debian_root() {
  local root="$1" folder="$2" namespaces status=0
  shift 2
  setpriv --pdeathsig KILL \
    unshare --mount --pid "${own_namespaces[@]}" --fork --kill-child --propagation private -- \
    env -i HOME=/root TERM="${TERM:-dumb}" \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ${CI:+CI="$CI"} ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    bash -c "$enter_debian_root" enter "$root" "$folder" "${#shared_folders[@]}" "${shared_folders[@]}" "$@" <&0 &
  namespaces=$!
  trap 'kill -KILL "$namespaces" 2>/dev/null; exit 130' INT
  trap 'kill -KILL "$namespaces" 2>/dev/null; exit 143' TERM HUP
  wait "$namespaces" || status=$?
  trap - INT TERM HUP
  return "$status"
}
