// SPDX-License-Identifier: Apache-2.0
//
// A program with user data that waits until it is killed: user_data [OUTPUT CAIRN], with which it starts a watcher
// behind its first entry. Without a device, and so without a context.
#include "cairn/user_data.h"

#include <unistd.h>

#include <cstdio>
#include <string>

namespace {

bool Set(const char* key, const std::string& value) {
  const CairnResult result = cairnSetUserData(key, value.data(), value.size());
  if (result != CAIRN_OK) std::fprintf(stderr, "%s: %s\n", key, cairnGetLastErrorMessage());
  return result == CAIRN_OK;
}

}  // namespace

int main(int argc, char** argv) {
  if (!Set("level", "e1m1")) return 1;
  if (argc > 2) {
    CairnWatcherDesc watcher{};
    watcher.struct_size = sizeof(watcher);
    watcher.output_path = argv[1];
    watcher.cairn_path = argv[2];
    if (cairnStartWatcher(&watcher) != CAIRN_OK) {
      std::fprintf(stderr, "cairnStartWatcher: %s\n", cairnGetLastErrorMessage());
      return 1;
    }
  }
  const std::string bits("\x01\x00\xff", 3);
  if (!Set("bits", bits) || !Set("save.bin", std::string(1'000'000, 's')) ||
      !Set("removed", "secret") || cairnRemoveUserData("removed") != CAIRN_OK ||
      !Set("level", "e1m2")) {
    return 1;
  }
  std::printf("ready %d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  for (;;) pause();
}
