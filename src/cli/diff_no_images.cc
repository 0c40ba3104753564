// SPDX-License-Identifier: Apache-2.0
#include "cli/diff.h"

namespace cairn::cli {
namespace {

int NotThere() {
  return Trouble({StatusCode::kUnsupported,
                  "on this system images cannot be compared yet, only the calls of two traces"});
}

}  // namespace

bool ComparesImages() {
  return false;
}

int DiffFolders(const DiffOptions&) {
  return NotThere();
}

int DiffPlaybacks(const DiffOptions&) {
  return NotThere();
}

}  // namespace cairn::cli
