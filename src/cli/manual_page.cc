// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cctype>
#include <string_view>

#include "cli/description.h"

namespace cairn::cli {
namespace {

// Escapes the text, so that no character is a request or an escape of roff, and no hyphen becomes a
// dash.
std::string Roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '`': out += "\\(ga"; break;
      case '\'': out += "\\(aq"; break;
      case '~': out += "\\(ti"; break;
      case '^': out += "\\(ha"; break;
      default: out += c;
    }
  }
  return out;
}

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

void AddLines(std::string_view title, std::string_view lines, std::string* page) {
  while (!lines.empty() && lines.front() == '\n') lines.remove_prefix(1);
  while (!lines.empty() && lines.back() == '\n') lines.remove_suffix(1);
  if (lines.empty()) return;
  *page += fmt::format(".SH {}\n.nf\n{}\n.fi\n", title, Roff(lines));
}

std::string_view TitleOfRest(std::string_view rest) {
  while (!rest.empty() && rest.front() == '\n') rest.remove_prefix(1);
  return rest.starts_with("Exit code") || rest.starts_with("Exits ") ||
                 rest.starts_with("The exit code")
             ? "EXIT STATUS"
             : "NOTES";
}

void AddOption(const OptionDescription& option, std::string* page) {
  *page += ".TP\n";
  std::string names;
  for (const std::string& name : option.names) {
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", Roff(name));
  }
  *page += names;
  if (!option.type.empty()) {
    *page += fmt::format("{}\\fI{}\\fR", names.empty() ? "" : " ", Roff(option.type));
  }
  *page += '\n';
  *page += Roff(option.help);
  if (!option.values.empty()) {
    *page += fmt::format(". One of {}", Roff(fmt::format("{}", fmt::join(option.values, ", "))));
  }
  if (!option.default_value.empty()) {
    *page += fmt::format(". Without it {}", Roff(option.default_value));
  }
  *page += ".\n";
}

void AddFooter(std::string_view footer, std::string* page) {
  constexpr std::string_view kExamples = "Examples:\n";
  const size_t examples = footer.find(kExamples);
  if (examples == std::string_view::npos) return AddLines(TitleOfRest(footer), footer, page);
  AddLines("DESCRIPTION", footer.substr(0, examples), page);
  footer.remove_prefix(examples + kExamples.size());
  const size_t end = footer.find("\n\n");
  AddLines("EXAMPLES", footer.substr(0, end), page);
  if (end == std::string_view::npos) return;
  const std::string_view rest = footer.substr(end);
  AddLines(TitleOfRest(rest), rest, page);
}

std::string Beginning(const std::string& name, const VerbDescription& described) {
  std::string_view purpose = described.purpose;
  if (purpose.ends_with('.')) purpose.remove_suffix(1);
  std::string page = fmt::format(".TH {} 1 \"\" \"cairn {}\" \"Cairn\"\n.SH NAME\n{} \\- {}\n",
                                 Roff(Upper(name)), CAIRN_VERSION, Roff(name), Roff(purpose));
  AddLines("SYNOPSIS", described.usage, &page);
  return page;
}

void AddRest(const VerbDescription& described, std::string* page) {
  *page += ".SH OPTIONS\n";
  for (const OptionDescription& option : described.options) AddOption(option, page);
  AddFooter(described.footer, page);
}

constexpr char kSeeCairn[] = ".SH SEE ALSO\n\\fBcairn\\fR(1)\n";

}  // namespace

std::string ManualPage(const std::vector<VerbDescription>& verbs, const VerbDescription& verb) {
  const bool whole = verb.name.empty();
  std::string page = Beginning(whole ? "cairn" : "cairn-" + verb.name, verb);
  if (whole) {
    page += ".SH COMMANDS\n";
    for (const VerbDescription& other : verbs) {
      if (other.name.empty()) continue;
      page +=
          fmt::format(".TP\n\\fBcairn\\-{}\\fR(1)\n{}\n", Roff(other.name), Roff(other.purpose));
    }
  }
  AddRest(verb, &page);
  return whole ? page : page + kSeeCairn;
}

std::string ManualPage(const std::string& program, const VerbDescription& described) {
  std::string page = Beginning(program, described);
  AddRest(described, &page);
  return page + kSeeCairn;
}

}  // namespace cairn::cli
