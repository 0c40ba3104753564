// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "cli/verb_list.h"

namespace cairn::cli {
namespace {

constexpr char kFileVerbsExamples[] =
    "Examples:\n"
    "  cairn report game.cairn    which GPU work was running\n"
    "  cairn info game.cairn      what a file consists of\n"
    "  cairn calls game.cairn     the Direct3D 12 calls in a trace\n";

}  // namespace

VerbList AddVerbs(CLI::App& root) {
  // In the order in which they are listed.
  return {.verbs = {AddReportVerb(root), AddInfoVerb(root), AddCallsVerb(root),
                    AddObjectsVerb(root), AddStateVerb(root), AddDiffVerb(root),
                    AddVerifyVerb(root), AddRepackVerb(root), AddPixVerb(root)},
          .missing = {"run", "images", "trim", "replay", "bisect", "top", "selftest"},
          .examples = kFileVerbsExamples};
}

void PrepareFor(const Verb&, const std::vector<std::string>&, char**) {}

}  // namespace cairn::cli
