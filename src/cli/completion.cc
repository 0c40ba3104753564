// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "cli/description.h"

namespace cairn::cli {
namespace {

// The possible values of an option: our own words, and kinds of names that a shell knows.
struct Offer {
  std::vector<std::string> words;
  bool files = false;
  bool folders = false;
  bool dumps = false;  // .cairn files
  bool processes = false;
};

Offer OfferOf(const OptionDescription& option, const VerbDescription& verb) {
  Offer offer;
  offer.words = option.values;
  for (std::string_view rest = option.type; !rest.empty();) {
    const size_t end = rest.find('|');
    const std::string_view part = rest.substr(0, end);
    if (part.empty()) break;
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
    const bool dump = option.names.empty() && verb.offers_dumps;
    if (part == "FILE") (dump ? offer.dumps : offer.files) = true;
    if (part == "FIRST" || part == "SECOND") offer.dumps = true;
    if (part == "FOLDER" || part == "DIR") offer.folders = true;
    if (part == "PID") offer.processes = true;
    if (part == "COMMAND") offer.words.push_back("COMMAND");
    // A word as it is typed: "signal|FILE".
    if (std::islower(static_cast<unsigned char>(part.front())) != 0) offer.words.emplace_back(part);
  }
  return offer;
}

std::vector<std::string> NamesOfVerbs(const std::vector<VerbDescription>& verbs) {
  std::vector<std::string> names;
  for (const VerbDescription& verb : verbs) {
    if (!verb.name.empty()) names.push_back(verb.name);
  }
  return names;
}

// The words of an offer; "COMMAND" stands for all verbs.
std::vector<std::string> WordsOf(const Offer& offer, const std::vector<VerbDescription>& verbs) {
  if (offer.words != std::vector<std::string>{"COMMAND"}) return offer.words;
  return NamesOfVerbs(verbs);
}

std::vector<std::string> OptionNamesOf(const VerbDescription& verb) {
  std::vector<std::string> names;
  for (const OptionDescription& option : verb.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  if (verb.takes_program) names.push_back("--");
  return names;
}

// ---- bash ----------------------------------------------------------------------------------------------

constexpr char kRunningPrograms[] = "$(cairn top 2>/dev/null | awk '$1 ~ /^[0-9]+$/ { print $1 }')";

std::string BashOffer(const Offer& offer, const std::vector<VerbDescription>& verbs) {
  std::vector<std::string> parts;
  const std::vector<std::string> words = WordsOf(offer, verbs);
  if (!words.empty()) {
    parts.push_back(fmt::format("compgen -W \"{}\" -- \"$word\"", fmt::join(words, " ")));
  }
  if (offer.processes) {
    parts.push_back(fmt::format("compgen -W \"{}\" -- \"$word\"", kRunningPrograms));
  }
  if (offer.files) parts.push_back("compgen -f -- \"$word\"");
  if (offer.dumps) parts.push_back("compgen -f -X '!*.cairn' -- \"$word\"");
  if (!offer.files && (offer.dumps || offer.folders)) parts.push_back("compgen -d -- \"$word\"");
  if (parts.empty()) return ":";
  return fmt::format("mapfile -t COMPREPLY < <({})", fmt::join(parts, "; "));
}

void AddBashVerb(const std::vector<VerbDescription>& verbs, const VerbDescription& verb,
                 std::string* script) {
  std::vector<std::string> with_value;
  std::string values;
  Offer words;
  for (const OptionDescription& option : verb.options) {
    const Offer offer = OfferOf(option, verb);
    if (option.names.empty()) {
      words.words.insert(words.words.end(), offer.words.begin(), offer.words.end());
      words.files = words.files || offer.files;
      words.folders = words.folders || offer.folders;
      words.dumps = words.dumps || offer.dumps;
      words.processes = words.processes || offer.processes;
    } else if (!option.type.empty()) {
      with_value.insert(with_value.end(), option.names.begin(), option.names.end());
      values += fmt::format("        {}) {} ;;\n", fmt::join(option.names, " | "),
                            BashOffer(offer, verbs));
    }
  }
  *script += fmt::format("    {})\n", verb.name);
  if (verb.takes_program) {
    *script += fmt::format("      if _cairn_program {} \"{}\"; then return; fi\n",
                           words.dumps ? "dashes" : "word", fmt::join(with_value, " "));
  }
  std::string otherwise = BashOffer(words, verbs);
  if (verb.takes_program && !words.dumps) {
    otherwise = "mapfile -t COMPREPLY < <(compgen -c -f -- \"$word\")";
  }
  *script += fmt::format(
      "      case $previous in\n"
      "{}"
      "        *)\n"
      "          if [[ $word == -* ]]; then\n"
      "            mapfile -t COMPREPLY < <(compgen -W \"{}\" -- \"$word\")\n"
      "          else\n"
      "            {}\n"
      "          fi\n"
      "          ;;\n"
      "      esac\n"
      "      ;;\n",
      values, fmt::join(OptionNamesOf(verb), " "), otherwise);
}

constexpr char kBashProgram[] =
    R"(# Offers what belongs to a program, if the cursor is there: behind "--", or, with "word", behind the first word
# that is neither an option nor a value of one.
_cairn_program() {
  local i behind=0
  for ((i = 2; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      behind=$((i + 1))
      break
    elif [[ " $2 " == *" ${COMP_WORDS[i]} "* ]]; then
      ((++i))
    elif [[ $1 == word && ${COMP_WORDS[i]} != -* ]]; then
      behind=$i
      break
    fi
  done
  ((behind)) || return 1
  if ((behind == COMP_CWORD)); then
    mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
)";

std::string BashScript(const std::vector<VerbDescription>& verbs) {
  std::string script = "# Completion of `cairn` for bash; made by `cairn help --files`.\n\n";
  script += kBashProgram;
  script += fmt::format(
      "\n_cairn() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"{} --help --version\" -- \"$word\")\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n",
      fmt::join(NamesOfVerbs(verbs), " "));
  for (const VerbDescription& verb : verbs) {
    if (!verb.name.empty()) AddBashVerb(verbs, verb, &script);
  }
  return script + "  esac\n}\n\ncomplete -o filenames -F _cairn cairn\n";
}

// ---- zsh and fish --------------------------------------------------------------------------------------

// Inside of single quotes, without the characters in `special`, which _arguments reads itself.
std::string Quoted(std::string_view text, std::string_view special, bool backslash) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += backslash ? "\\'" : "'\\''";
    } else {
      if (special.find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string ZshAction(const Offer& offer, const std::vector<VerbDescription>& verbs) {
  const std::vector<std::string> words = WordsOf(offer, verbs);
  if (!words.empty() && !offer.files) return fmt::format("({})", fmt::join(words, " "));
  if (offer.files) return "_files";
  if (offer.dumps) return "_files -g \"*.cairn\"";
  if (offer.folders) return "_files -/";
  if (offer.processes) return fmt::format("({})", kRunningPrograms);
  return " ";
}

void AddZshVerb(const std::vector<VerbDescription>& verbs, const VerbDescription& verb,
                std::string* script) {
  constexpr std::string_view kSpecial = "[]:\\";
  *script += fmt::format("    {})\n      _arguments -s", verb.name);
  bool rest = false;
  for (const OptionDescription& option : verb.options) {
    const std::string message = Quoted(option.type, kSpecial, false);
    // Some actions hold quotes, and a program of awk.
    const std::string action = Quoted(ZshAction(OfferOf(option, verb), verbs), "", false);
    if (option.names.empty()) {
      *script += fmt::format(" \\\n        '{}:{}:{}'", rest ? "*" : "", message, action);
      continue;
    }
    for (const std::string& name : option.names) {
      const std::string_view equals = name.starts_with("--") && !option.type.empty() ? "=" : "";
      *script +=
          fmt::format(" \\\n        '{}{}[{}]", name, equals, Quoted(option.help, kSpecial, false));
      *script += option.type.empty() ? "'" : fmt::format(":{}:{}'", message, action);
    }
  }
  if (verb.takes_program) *script += " \\\n        '*::program:_normal'";
  *script += "\n      ;;\n";
}

std::string ZshScript(const std::vector<VerbDescription>& verbs) {
  std::string script =
      "#compdef cairn\n"
      "# Completion of `cairn` for zsh; made by `cairn help --files`.\n\n"
      "_cairn() {\n"
      "  if ((CURRENT == 2)); then\n"
      "    local -a verbs=(\n";
  for (const VerbDescription& verb : verbs) {
    if (verb.name.empty()) continue;
    script += fmt::format("      '{}:{}'\n", verb.name, Quoted(verb.purpose, "", false));
  }
  script +=
      "    )\n"
      "    _describe -t verbs command verbs\n"
      "    return\n"
      "  fi\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $words[1] in\n";
  for (const VerbDescription& verb : verbs) {
    if (!verb.name.empty()) AddZshVerb(verbs, verb, &script);
  }
  return script + "  esac\n}\n\n_cairn \"$@\"\n";
}

std::string FishArguments(const Offer& offer, const std::vector<VerbDescription>& verbs) {
  const std::vector<std::string> words = WordsOf(offer, verbs);
  std::string arguments;
  if (!words.empty()) arguments += fmt::format(" -a '{}'", fmt::join(words, " "));
  if (offer.processes) {
    arguments += " -a \"(cairn top 2>/dev/null | string match -r '^ *[0-9]+')\"";
  }
  if (offer.files || offer.dumps) return arguments + " -F";
  if (offer.folders) arguments += " -a '(__fish_complete_directories)'";
  return arguments;
}

std::string FishScript(const std::vector<VerbDescription>& verbs) {
  std::string script =
      "# Completion of `cairn` for fish; made by `cairn help --files`.\n\n"
      "complete -c cairn -f\n"
      "complete -c cairn -n __fish_use_subcommand -l help -d 'Print help'\n"
      "complete -c cairn -n __fish_use_subcommand -l version -d 'Print the version'\n";
  for (const VerbDescription& verb : verbs) {
    if (verb.name.empty()) continue;
    const std::string here = fmt::format("-n '__fish_seen_subcommand_from {}'", verb.name);
    script += fmt::format("complete -c cairn -n __fish_use_subcommand -a {} -d '{}'\n", verb.name,
                          Quoted(verb.purpose, "\\", true));
    for (const OptionDescription& option : verb.options) {
      const std::string arguments = FishArguments(OfferOf(option, verb), verbs);
      if (option.names.empty()) {
        if (!arguments.empty()) {
          script += fmt::format("complete -c cairn {}{}\n", here, arguments);
        }
        continue;
      }
      script += "complete -c cairn " + here;
      for (const std::string& name : option.names) {
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      // -x: no files.
      if (!option.type.empty()) script += (arguments.ends_with("-F") ? " -r" : " -x") + arguments;
      script += fmt::format(" -d '{}'\n", Quoted(option.help, "\\", true));
    }
    if (verb.takes_program) {
      script += fmt::format(
          "complete -c cairn {} -x -a '(__fish_complete_subcommand --fcs-skip=2)'\n", here);
    }
  }
  return script;
}

}  // namespace

std::string CompletionScript(const std::vector<VerbDescription>& verbs, const std::string& shell) {
  if (shell == "zsh") return ZshScript(verbs);
  if (shell == "fish") return FishScript(verbs);
  return BashScript(verbs);
}

}  // namespace cairn::cli
