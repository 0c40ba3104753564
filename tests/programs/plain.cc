// SPDX-License-Identifier: Apache-2.0
//
// A program without libcairn: plain CODE | plain kill | plain cat | plain wait.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "0";
  if (std::strcmp(mode, "kill") == 0) raise(SIGKILL);
  if (std::strcmp(mode, "cat") == 0) {
    for (int c = std::getchar(); c != EOF; c = std::getchar()) std::putchar(c);
    std::fputs("on stderr\n", stderr);
    return 0;
  }
  if (std::strcmp(mode, "wait") == 0) {
    std::printf("ready %d\n", getpid());
    std::fflush(stdout);
    for (;;) pause();
  }
  return std::atoi(mode);
}
