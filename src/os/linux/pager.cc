// SPDX-License-Identifier: Apache-2.0
#include "os/pager.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "os/linux/paged_terminal.h"
#include "os/terminal.h"

extern char** environ;

namespace cairn {
namespace {

bool IsInPath(std::string_view program) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const std::string file = std::string(rest.substr(0, end)).append("/").append(program);
    if (access(file.c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

// False where the shell would say "not found", and everything printed would be lost.
bool CanRun(std::string_view command) {
  const std::string_view program = command.substr(0, command.find(' '));
  if (program.find_first_of("=$`\"'\\~;|&<>(){}*?[!#\t\n") != program.npos)
    return true;  // the shell's to judge
  if (program.find('/') == program.npos) return IsInPath(program);
  return access(std::string(program).c_str(), X_OK) == 0;
}

// -1: it could not be started.
pid_t StartShell(const std::string& command, int input) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  std::string shell = "sh";
  std::string option = "-c";
  std::string words = command;
  char* const arguments[] = {shell.data(), option.data(), words.data(), nullptr};
  pid_t process = -1;
  const int error = posix_spawn(&process, "/bin/sh", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? process : -1;
}

}  // namespace

std::string PagerCommand() {
  for (const char* const variable : {"CAIRN_PAGER", "PAGER"}) {
    const char* const command = std::getenv(variable);
    if (command == nullptr) continue;
    if (std::string_view(command).empty() || std::string_view(command) == "cat") return "";
    if (CanRun(command)) return command;
  }
  return IsInPath("less") ? "less" : "";
}

Pager::Pager(const std::string& command) {
  if (command.empty() || !TakesEscapes(StandardStream::kOutput)) return;
  // Text that fits the screen stays there, and colours are kept, unless the user has set other
  // options.
  setenv("LESS", "FRX", 0);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  NotePagedTerminal(OutputSize());
  process_ = StartShell(command, ends[0]);
  if (process_ >= 0) {
    std::signal(SIGINT, SIG_IGN);
    terminal_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(ends[1], STDOUT_FILENO);
  } else {
    ForgetPagedTerminal();
  }
  close(ends[0]);
  close(ends[1]);
}

Pager::~Pager() {
  if (process_ < 0) return;
  std::fflush(stdout);
  // This closes the pager's input.
  dup2(terminal_, STDOUT_FILENO);
  close(terminal_);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  std::signal(SIGINT, SIG_DFL);
  ForgetPagedTerminal();
}

}  // namespace cairn
