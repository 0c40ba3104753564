// SPDX-License-Identifier: Apache-2.0
#include "cli/description.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>

namespace cairn::cli {
namespace {

// "MODE:{off,top,pass}" -> MODE, and the values.
void SetType(const std::string& type_name, OptionDescription* option) {
  option->type = type_name.substr(0, type_name.find(':'));
  const size_t open = type_name.find(":{");
  if (open == std::string::npos || !type_name.ends_with('}')) return;
  const std::string values = type_name.substr(open + 2, type_name.size() - open - 3);
  for (size_t start = 0; start <= values.size();) {
    const size_t end = std::min(values.find(',', start), values.size());
    option->values.push_back(values.substr(start, end - start));
    start = end + 1;
  }
}

OptionDescription DescribeOption(const CLI::Option& option) {
  OptionDescription told;
  for (const std::string& name : option.get_snames()) told.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) told.names.push_back("--" + name);
  told.help = option.get_description();
  for (const CLI::Option* const other : option.get_excludes()) {
    told.excludes.push_back(other->get_name());
  }
  std::sort(told.excludes.begin(), told.excludes.end());  // a set of pointers has no order
  if (option.get_items_expected_max() == 0) {
    OptionDescription flag;
    SetType(option.get_type_name(), &flag);
    told.words = std::move(flag.values);
    return told;
  }
  SetType(option.get_type_name(), &told);
  told.value_optional = !told.names.empty() && option.get_items_expected_min() == 0;
  told.default_value = option.get_default_str();
  return told;
}

}  // namespace

VerbDescription Describe(const CLI::App& app, const std::string& usage) {
  VerbDescription told;
  told.purpose = app.get_description();
  told.usage = usage;
  told.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) told.options.push_back(DescribeOption(*option));
  }
  return told;
}

}  // namespace cairn::cli
