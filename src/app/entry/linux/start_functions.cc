// SPDX-License-Identifier: Apache-2.0
//
// The functions that start programs. This library stands in front of them, so that what a launcher starts with an
// environment of its own is followed all the same (given_environment.h). Where nothing is missing in it, as mostly,
// each goes on at once with what it was given. Not seen: system calls of static programs and of Go, and what libc itself
// starts (system, popen) once the program has emptied its own environment.
#include <dlfcn.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>

#include "app/entry/linux/entry_next.h"
#include "app/entry/linux/given_environment.h"
#include "os/environment.h"

#define CAIRN_ENTRY extern "C" __attribute__((visibility("default")))

extern char** environ;

namespace cairn {
namespace {

struct NextFunctions {
  decltype(&::execve) execve;
  decltype(&::execvpe) execvpe;
  decltype(&::fexecve) fexecve;
  decltype(&::execveat) execveat;
  decltype(&::posix_spawn) posix_spawn;
  decltype(&::posix_spawnp) posix_spawnp;
};

template <typename Function>
void FindNext(const char* name, Function* function) {
  *function = reinterpret_cast<Function>(FindSymbol(RTLD_NEXT, name));
}

// Look-ups happen when the library is loaded: between fork and exec a thread must not wait for the
// loader's lock.
NextFunctions& Next() {
  static NextFunctions& next = *[] {
    auto* const found = new NextFunctions;
    FindNext("execve", &found->execve);
    FindNext("execvpe", &found->execvpe);
    FindNext("fexecve", &found->fexecve);
    FindNext("execveat", &found->execveat);
    FindNext("posix_spawn", &found->posix_spawn);
    FindNext("posix_spawnp", &found->posix_spawnp);
    return found;
  }();
  return next;
}

GivenEnvironment& Given() {
  static GivenEnvironment& given = *new GivenEnvironment;
  return given;
}

__attribute__((constructor)) void TakeEnvironment() {
  Next();
  Dl_info own{};
  if (IsPrivilegedProcess() || dladdr(reinterpret_cast<void*>(&TakeEnvironment), &own) == 0) return;
  Given().Take(environ, own.dli_fname);
}

// Not inlined, so that only callers that need the room have it on their stack.
template <typename Start>
__attribute__((noinline)) int StartCompleted(char* const* environment, const Start& start) {
  GivenEnvironment::Room room;
  return start(Given().Complete(environment, room));
}

template <typename Start>
int StartWith(char* const* environment, const Start& start) {
  return Given().IsMissingIn(environment) ? StartCompleted(environment, start) : start(environment);
}

// Calls start(arguments) with those of a call of execl: `first` and what is behind it up to a null, behind which `rest`
// stands then. Returns its result; -1, with errno E2BIG, if there are too many.
template <typename Start>
int StartListed(const char* first, va_list* rest, const Start& start) {
  constexpr size_t kMostArguments = 1024;
  char* arguments[kMostArguments];
  size_t count = 0;
  for (const char* argument = first; count < kMostArguments;
       argument = va_arg(*rest, const char*)) {
    arguments[count++] = const_cast<char*>(argument);
    if (argument == nullptr) return start(arguments);
  }
  errno = E2BIG;
  return -1;
}

}  // namespace
}  // namespace cairn

CAIRN_ENTRY int execve(const char* path, char* const arguments[],
                       char* const environment[]) noexcept {
  return cairn::StartWith(environment, [&](char* const* completed) {
    return cairn::Next().execve(path, arguments, completed);
  });
}

CAIRN_ENTRY int execv(const char* path, char* const arguments[]) noexcept {
  return execve(path, arguments, environ);
}

CAIRN_ENTRY int execvpe(const char* file, char* const arguments[],
                        char* const environment[]) noexcept {
  return cairn::StartWith(environment, [&](char* const* completed) {
    return cairn::Next().execvpe(file, arguments, completed);
  });
}

CAIRN_ENTRY int execvp(const char* file, char* const arguments[]) noexcept {
  return execvpe(file, arguments, environ);
}

CAIRN_ENTRY int fexecve(int file, char* const arguments[], char* const environment[]) noexcept {
  return cairn::StartWith(environment, [&](char* const* completed) {
    return cairn::Next().fexecve(file, arguments, completed);
  });
}

CAIRN_ENTRY int execveat(int folder, const char* path, char* const arguments[],
                         char* const environment[], int flags) noexcept {
  return cairn::StartWith(environment, [&](char* const* completed) {
    return cairn::Next().execveat(folder, path, arguments, completed, flags);
  });
}

CAIRN_ENTRY int execl(const char* path, const char* first, ...) noexcept {
  va_list rest;
  va_start(rest, first);
  const int result = cairn::StartListed(
      first, &rest, [&](char** arguments) { return execve(path, arguments, environ); });
  va_end(rest);
  return result;
}

CAIRN_ENTRY int execlp(const char* file, const char* first, ...) noexcept {
  va_list rest;
  va_start(rest, first);
  const int result = cairn::StartListed(
      first, &rest, [&](char** arguments) { return execvpe(file, arguments, environ); });
  va_end(rest);
  return result;
}

CAIRN_ENTRY int execle(const char* path, const char* first, ...) noexcept {
  va_list rest;
  va_start(rest, first);
  const int result = cairn::StartListed(first, &rest, [&](char** arguments) {
    return execve(path, arguments, va_arg(rest, char* const*));
  });
  va_end(rest);
  return result;
}

CAIRN_ENTRY int posix_spawn(pid_t* id, const char* path, const posix_spawn_file_actions_t* actions,
                            const posix_spawnattr_t* attributes, char* const arguments[],
                            char* const environment[]) {
  return cairn::StartWith(environment, [&](char* const* completed) {
    return cairn::Next().posix_spawn(id, path, actions, attributes, arguments, completed);
  });
}

CAIRN_ENTRY int posix_spawnp(pid_t* id, const char* file, const posix_spawn_file_actions_t* actions,
                             const posix_spawnattr_t* attributes, char* const arguments[],
                             char* const environment[]) {
  return cairn::StartWith(environment, [&](char* const* completed) {
    return cairn::Next().posix_spawnp(id, file, actions, attributes, arguments, completed);
  });
}
