// SPDX-License-Identifier: Apache-2.0
#include "os/executable_stack.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "os/child.h"

namespace cairn {
namespace {

constexpr char kTunables[] = "GLIBC_TUNABLES";
constexpr char kTunable[] = "glibc.rtld.execstack";

// Tries to load the library in a child, as its constructors may do anything.
bool IsRefused(const std::string& library) {
  const pid_t child = fork();
  if (child == 0) {
    const bool loaded = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr;
    const char* const reason = loaded ? nullptr : dlerror();
    _exit(reason != nullptr && std::strstr(reason, "executable stack") != nullptr ? 1 : 0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 1;
}

}  // namespace

void AllowExecutableStack(const std::string& library, char** argv) {
  if (WasStartedAsChild()) return;
  const char* const told = getenv(kTunables);
  if (told != nullptr && std::strstr(told, kTunable) != nullptr) return;
  if (!IsRefused(library)) return;
  setenv(kTunables,
         (std::string(told == nullptr ? "" : told + std::string(":")) + kTunable + "=2").c_str(),
         1);
  execv("/proc/self/exe", argv);
}

}  // namespace cairn
