# SPDX-License-Identifier: Apache-2.0
# Completion of the `cairn` command for bash: source it, or install it as
# share/bash-completion/completions/cairn.

_cairn() {
  local word=${COMP_WORDS[COMP_CWORD]}
  local previous=${COMP_WORDS[COMP_CWORD - 1]}
  local verb=${COMP_WORDS[1]}
  COMPREPLY=()

  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "run report view replay bisect diff images calls objects state info verify repack top selftest pix trim --help --version" -- "$word")
    return
  fi

  case $verb in
    run)
      # What follows the first word that is no option, or "--", belongs to the program.
      local i
      for ((i = 2; i < COMP_CWORD; ++i)); do
        case ${COMP_WORDS[i]} in
          --) ((++i)) ;;
          -o | --output | --hang-timeout | --breadcrumbs | --events | --frames | --trigger) ((++i)); continue ;;
          -*) continue ;;
        esac
        if ((i < COMP_CWORD)); then
          mapfile -t COMPREPLY < <(compgen -f -- "$word")
        else
          mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
        fi
        return
      done
      case $previous in
        -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        --hang-timeout) ;;
        --events) mapfile -t COMPREPLY < <(compgen -W "all retail" -- "$word") ;;
        --breadcrumbs) mapfile -t COMPREPLY < <(compgen -W "off top pass full exact" -- "$word") ;;
        --frames) ;;
        --trigger) mapfile -t COMPREPLY < <(compgen -W "signal" -- "$word"; compgen -f -- "$word") ;;
        *)
          if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "-o --output --capture --frames --trigger --hash-frames --hang-timeout --breadcrumbs --events --kill-on-hang --dump-on-exit --no-layer --no-witnesses --quiet --help --" -- "$word")
          else
            mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
          fi
          ;;
      esac
      ;;
    report)
      case $previous in
        --color) mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$word") ;;
        --width) ;;
        --extract) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
        --html) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        *)
          if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--json --html --redact --extract --force --all --width --color --help" -- "$word")
          else
            mapfile -t COMPREPLY < <(compgen -f -X '!*.cairn' -- "$word"; compgen -d -- "$word")
          fi
          ;;
      esac
      ;;
    view)
      case $previous in
        --port) ;;
        *)
          if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--port --no-browser --help" -- "$word")
          else
            mapfile -t COMPREPLY < <(compgen -f -X '!*.cairn' -- "$word"; compgen -d -- "$word")
          fi
          ;;
      esac
      ;;
    replay)
      case $previous in
        --pace) mapfile -t COMPREPLY < <(compgen -W "fast original" -- "$word") ;;
        --images) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
        --library) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        --frames | --loop | --timeout | --pad) ;;
        *)
          if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--frames --validate --images --window --hash --loop --pace --timeout --library --pad --in-process --quiet --help" -- "$word")
          else
            mapfile -t COMPREPLY < <(compgen -f -X '!*.cairn' -- "$word"; compgen -d -- "$word")
          fi
          ;;
      esac
      ;;
    images)
      case $previous in
        -o | --output) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
        --library) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        --frame | --call | --object | --timeout) ;;
        *)
          if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "-o --output --frame --call --object --all --stretch --json --timeout --library --help" -- "$word")
          else
            mapfile -t COMPREPLY < <(compgen -f -X '!*.cairn' -- "$word"; compgen -d -- "$word")
          fi
          ;;
      esac
      ;;
    diff)
      case $previous in
        -o | --output) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
        --library) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        --frames | --limit) ;;
        *)
          if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--images -o --output --frames --limit --json --library --help" -- "$word")
          else
            mapfile -t COMPREPLY < <(compgen -f -X '!*.cairn' -- "$word"; compgen -d -- "$word")
          fi
          ;;
      esac
      ;;
    calls)
      case $previous in
        --frame | --around | --context | --object | --function | --thread | --submission) ;;
        *)
          if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--frame --around --context --object --function --thread --submission --whole --no-names --json --help" -- "$word")
          else
            mapfile -t COMPREPLY < <(compgen -f -X '!*.cairn' -- "$word"; compgen -d -- "$word")
          fi
          ;;
      esac
      ;;
    state)
      case $previous in
        --call) ;;
        *)
          if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--call --json --help" -- "$word")
          else
            mapfile -t COMPREPLY < <(compgen -f -X '!*.cairn' -- "$word"; compgen -d -- "$word")
          fi
          ;;
      esac
      ;;
    info | verify)
      if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "--json --help" -- "$word")
      else
        mapfile -t COMPREPLY < <(compgen -f -X '!*.cairn' -- "$word"; compgen -d -- "$word")
      fi
      ;;
    objects)
      case $previous in
        --at | --frame | --kind | --name) ;;
        *)
          if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--alive --at --frame --kind --name --json --help" -- "$word")
          else
            mapfile -t COMPREPLY < <(compgen -f -X '!*.cairn' -- "$word"; compgen -d -- "$word")
          fi
          ;;
      esac
      ;;
    repack)
      case $previous in
        -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        *)
          if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "-o --output --help" -- "$word")
          else
            mapfile -t COMPREPLY < <(compgen -f -X '!*.cairn' -- "$word"; compgen -d -- "$word")
          fi
          ;;
      esac
      ;;
    bisect)
      # What follows "--" belongs to a program.
      local dashes
      for ((dashes = 2; dashes < COMP_CWORD; ++dashes)); do
        [[ ${COMP_WORDS[dashes]} == -- ]] || continue
        if ((dashes + 1 < COMP_CWORD)); then
          mapfile -t COMPREPLY < <(compgen -f -- "$word")
        else
          mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
        fi
        return
      done
      case $previous in
        --hang-timeout | --repeats | --runs | --survive | --recovery | --max-probes) ;;
        -o | --output | --journal | --library) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        *)
          if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "-o --output --no-output --hang-timeout --repeats --runs --survive --recovery --max-probes --journal --restart --library --json --quiet --help --" -- "$word")
          else
            mapfile -t COMPREPLY < <(compgen -f -X '!*.cairn' -- "$word"; compgen -d -- "$word")
          fi
          ;;
      esac
      ;;
    trim)
      case $previous in
        --frames) ;;
        -o | --output | --library) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        *)
          if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--frames -o --output --hash-frames --keep-all --library --quiet --help" -- "$word")
          else
            mapfile -t COMPREPLY < <(compgen -f -X '!*.cairn' -- "$word"; compgen -d -- "$word")
          fi
          ;;
      esac
      ;;
    top)
      case $previous in
        --interval) ;;
        *)
          if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--interval --once --json --help" -- "$word")
          else
            mapfile -t COMPREPLY < <(compgen -W "$(cairn top 2>/dev/null | awk '$1 ~ /^[0-9]+$/ { print $1 }')" -- "$word")
          fi
          ;;
      esac
      ;;
    selftest)
      case $previous in
        --api) mapfile -t COMPREPLY < <(compgen -W "vulkan d3d12" -- "$word") ;;
        *) mapfile -t COMPREPLY < <(compgen -W "--api --json --help" -- "$word") ;;
      esac
      ;;
    pix)
      case $previous in
        pix) mapfile -t COMPREPLY < <(compgen -W "decode --help" -- "$word") ;;
        --metadata) mapfile -t COMPREPLY < <(compgen -W "0 1 2 6345127" -- "$word") ;;
        *)
          if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--metadata --qwords --json --help" -- "$word")
          else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
          fi
          ;;
      esac
      ;;
  esac
}

complete -o filenames -F _cairn cairn
