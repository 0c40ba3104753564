// SPDX-License-Identifier: Apache-2.0
//
// A program of Windows without libcairn: plain CODE | plain kill | plain cat | plain variable NAME | plain starts WORD...
#include <process.h>
#include <windows.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "0";
  if (std::strcmp(mode, "kill") == 0) TerminateProcess(GetCurrentProcess(), 77);
  if (std::strcmp(mode, "fault") == 0) *reinterpret_cast<volatile int*>(0x1230) = 1;
  if (std::strcmp(mode, "cat") == 0) {
    for (int c = std::getchar(); c != EOF; c = std::getchar()) std::putchar(c);
    std::fputs("on stderr\n", stderr);
    return 0;
  }
  if (std::strcmp(mode, "variable") == 0 && argc > 2) {
    const char* const value = std::getenv(argv[2]);
    std::printf("%s\n", value == nullptr ? "none" : value);
    return 0;
  }
  // Prints whether a library is in it.
  if (std::strcmp(mode, "has") == 0 && argc > 2) {
    std::printf("%s\n", GetModuleHandleA(argv[2]) == nullptr ? "no" : "yes");
    return 0;
  }
  if (std::strcmp(mode, "starts") == 0 && argc > 2) {
    return static_cast<int>(_spawnv(_P_WAIT, argv[2], argv + 2) & 0xff);
  }
  return std::atoi(mode);
}
