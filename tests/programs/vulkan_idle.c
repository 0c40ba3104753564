// SPDX-License-Identifier: Apache-2.0
//
// Opens a library and stays: vulkan_idle LIBRARY says "ready PID" and waits until somebody ends it. In C and without
// Cairn, so that a copy of it may be given rights, and one that is linked statically may be a launcher: with --start
// PROGRAM ARGUMENTS it starts that with an empty environment instead, and ends as it ends.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef WITHOUT_LIBRARIES
#include <dlfcn.h>
#endif

static int Start(char** arguments) {
  char* const nothing[] = {NULL};
  const pid_t child = fork();
  int status = 0;
  if (child == 0) {
    execve(arguments[0], arguments, nothing);
    _exit(127);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) return 70;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "--start") == 0) return Start(argv + 2);
#ifndef WITHOUT_LIBRARIES
  if (argc != 2 || dlopen(argv[1], RTLD_NOW) == NULL) return 70;
#endif
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  for (;;) pause();
}
