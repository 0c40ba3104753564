// SPDX-License-Identifier: Apache-2.0
//
// observe: a Direct3D 12 program that looks at everything it can and prints what it saw.
#include <cstring>

#include "invisible/observer.h"

namespace {

struct SectionEntry {
  const char* name;
  void (*run)(observe::Observer&);
};

constexpr SectionEntry kSections[] = {
    {"device", observe::ObserveDevice},       {"children", observe::ObserveChildren},
    {"private", observe::ObservePrivateData}, {"arguments", observe::ObserveArguments},
    {"lists", observe::ObserveLists},         {"work", observe::ObserveWork},
    {"draws", observe::ObserveDraws},         {"queues", observe::ObserveQueues},
    {"threads", observe::ObserveThreads},     {"vkd3d", observe::ObserveVkd3d},
};

}  // namespace

int main(int argc, char** argv) {
  observe::Observer out;
  bool known = argc == 1;
  for (const SectionEntry& section : kSections) {
    if (argc > 1 && std::strcmp(argv[1], section.name) != 0) continue;
    known = true;
    out.Section(section.name);
    section.run(out);
  }
  if (!known) std::fprintf(stderr, "observe: there is no section %s\n", argv[1]);
  return known ? 0 : 1;
}
