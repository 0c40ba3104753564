# SPDX-License-Identifier: Apache-2.0
# Completion of the `d3dconfig` command for bash: source it, or install it as
# share/bash-completion/completions/d3dconfig.

_d3dconfig() {
  local word=${COMP_WORDS[COMP_CWORD]}
  local name=force-driver-retail-annotations
  COMPREPLY=()
  # "=" is a word of its own for the shell.
  if [[ $word == "=" || ${COMP_WORDS[COMP_CWORD - 1]} == "=" ]]; then
    mapfile -t COMPREPLY < <(compgen -W "on off true false" -- "${word#=}")
  elif ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "device --help --version" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "--system --user --help" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -W "$name=" -- "$word")
    compopt -o nospace 2>/dev/null
  fi
}

complete -F _d3dconfig d3dconfig
