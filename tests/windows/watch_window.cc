// SPDX-License-Identifier: Apache-2.0
//
// watch-window.exe [--with LIBRARY.dll] PICTURES PROGRAM.exe: runs PROGRAM until its window has shown PICTURES different pictures, one
// after the other, then closes the window as its user would. Exits with 0 if PROGRAM then ended with 0. All
// within a minute; what lasts longer is ended. LIBRARY, a whole path, is in PROGRAM before it runs.
#include <windows.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <vector>

#include "tests/windows/layered/inject.h"

namespace {

constexpr DWORD kLongestMs = 60'000;
constexpr DWORD kBetweenLooksMs = 50;

struct Search {
  DWORD process;
  HWND window;
};

BOOL CALLBACK TakeWindow(HWND window, LPARAM search_address) {
  auto* search = reinterpret_cast<Search*>(search_address);
  DWORD process = 0;
  GetWindowThreadProcessId(window, &process);
  if (process != search->process || !IsWindowVisible(window)) return TRUE;
  search->window = window;
  return FALSE;
}

HWND WindowOf(DWORD process) {
  Search search = {process, nullptr};
  EnumWindows(TakeWindow, reinterpret_cast<LPARAM>(&search));
  return search.window;
}

// The part of a window's inside that is on the screen, in the screen's coordinates.
bool InsideOf(HWND window, RECT* visible) {
  RECT inside = {};
  POINT corner = {};
  if (!GetClientRect(window, &inside) || !ClientToScreen(window, &corner)) return false;
  OffsetRect(&inside, corner.x, corner.y);
  const RECT screen = {0, 0, GetSystemMetrics(SM_CXSCREEN), GetSystemMetrics(SM_CYSCREEN)};
  return IntersectRect(visible, &inside, &screen) != 0;
}

// Returns the picture on the screen there, as one number; 0 if it has a single colour.
uint64_t PictureOf(HWND window) {
  RECT visible = {};
  if (!InsideOf(window, &visible)) return 0;
  const int width = visible.right - visible.left, height = visible.bottom - visible.top;
  const HDC screen = GetDC(nullptr);
  const HDC memory = CreateCompatibleDC(screen);
  BITMAPINFO info = {};
  info.bmiHeader = {.biSize = sizeof(info.bmiHeader),
                    .biWidth = width,
                    .biHeight = -height,
                    .biPlanes = 1,
                    .biBitCount = 32};
  void* bits = nullptr;
  const HBITMAP bitmap = CreateDIBSection(screen, &info, DIB_RGB_COLORS, &bits, nullptr, 0);
  uint64_t number = 0;
  if (bitmap != nullptr) {
    const HGDIOBJ before = SelectObject(memory, bitmap);
    BitBlt(memory, 0, 0, width, height, screen, visible.left, visible.top, SRCCOPY);
    GdiFlush();
    const auto* pixels = static_cast<const uint32_t*>(bits);
    const size_t count = static_cast<size_t>(width) * static_cast<size_t>(height);
    bool one_colour = true;
    number = 14695981039346656037u;  // FNV-1a
    for (size_t i = 0; i < count; ++i) {
      one_colour = one_colour && pixels[i] == pixels[0];
      number = (number ^ (pixels[i] & 0xffffff)) * 1099511628211u;
    }
    if (one_colour) number = 0;
    SelectObject(memory, before);
    DeleteObject(bitmap);
  }
  DeleteDC(memory);
  ReleaseDC(nullptr, screen);
  return number;
}

// Returns how many pictures were seen.
int Watch(const PROCESS_INFORMATION& program, int wanted, HWND* window) {
  const ULONGLONG start = GetTickCount64();
  uint64_t last = 0;
  int seen = 0;
  while (seen < wanted && GetTickCount64() - start < kLongestMs &&
         WaitForSingleObject(program.hProcess, kBetweenLooksMs) == WAIT_TIMEOUT) {
    *window = WindowOf(program.dwProcessId);
    const uint64_t picture = *window == nullptr ? 0 : PictureOf(*window);
    if (picture == 0 || picture == last) continue;
    last = picture;
    ++seen;
  }
  return seen;
}

}  // namespace

int wmain(int argc, wchar_t** argv) {
  const bool has_library = argc == 5 && wcscmp(argv[1], L"--with") == 0;
  const wchar_t* const library = has_library ? argv[2] : nullptr;
  if (has_library) {
    argc -= 2;
    argv += 2;
  }
  const int wanted = argc == 3 ? _wtoi(argv[1]) : 0;
  if (wanted <= 0) {
    fprintf(stderr, "watch-window: wants PICTURES, 1 or more, and PROGRAM.exe\n");
    return 2;
  }
  STARTUPINFOW startup = {};
  startup.cb = sizeof(startup);
  PROCESS_INFORMATION program = {};
  if (!CreateProcessW(argv[2], nullptr, nullptr, nullptr, FALSE, CREATE_SUSPENDED, nullptr, nullptr,
                      &startup, &program)) {
    fprintf(stderr, "watch-window: cannot start %ls: error %lu\n", argv[2], GetLastError());
    return 1;
  }
  if (library != nullptr && !cairn::testing::Inject(program.hProcess, library)) {
    fprintf(stderr, "watch-window: %ls cannot be loaded in %ls\n", library, argv[2]);
    TerminateProcess(program.hProcess, 1);
  }
  ResumeThread(program.hThread);
  HWND window = nullptr;
  const int seen = Watch(program, wanted, &window);
  if (window != nullptr) PostMessageW(window, WM_CLOSE, 0, 0);
  const bool ended = WaitForSingleObject(program.hProcess, kLongestMs / 2) == WAIT_OBJECT_0;
  DWORD code = 0;
  GetExitCodeProcess(program.hProcess, &code);
  if (!ended) TerminateProcess(program.hProcess, 1);
  printf("%ls: %d pictures, %s %#lx\n", argv[2], seen,
         ended ? "then ended with" : "did not end: ended by us;", code);
  return seen == wanted && ended && code == 0 ? 0 : 1;
}
