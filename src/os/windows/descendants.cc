// SPDX-License-Identifier: Apache-2.0
#include "os/descendants.h"

namespace cairn {

// A job knows them all; nothing of Windows loses a program's environment on the way so far.
bool AdoptOrphans() {
  return false;
}

void ForgetEndedOrphans(const std::function<bool(ProcessId)>&) {}

std::vector<Descendant> Descendants(const std::vector<ProcessId>&) {
  return {};
}

ProcessLook LookAtProcess(ProcessId, const LookFor&) {
  return {};
}

ProcessLook LookAtProgramFile(const std::string& path) {
  ProcessLook look;
  look.program = path;
  return look;
}

}  // namespace cairn
