// SPDX-License-Identifier: Apache-2.0
#include <windows.h>

#include "window_reading.h"

namespace cairn::testing {
namespace {

// Looks for a minute; null if there is none.
HWND Find(const std::string& title) {
  const std::wstring wide(title.begin(), title.end());
  const ULONGLONG end_ms = GetTickCount64() + 60'000;
  HWND window = nullptr;
  while ((window = FindWindowW(nullptr, wide.c_str())) == nullptr && GetTickCount64() < end_ms) {
    Sleep(5);
  }
  return window;
}

}  // namespace

bool HasScreen() {
  return true;
}

std::vector<std::string> ScreenEnvironment() {
  return {};
}

RgbaImage PictureOfWindow(const std::string& title) {
  RgbaImage picture;
  const HWND window = Find(title);
  RECT inside = {};
  POINT corner = {};
  if (!GetClientRect(window, &inside) || !ClientToScreen(window, &corner)) return picture;
  picture.width = static_cast<uint32_t>(inside.right);
  picture.height = static_cast<uint32_t>(inside.bottom);
  BITMAPINFO info = {};
  info.bmiHeader.biSize = sizeof(info.bmiHeader);
  info.bmiHeader.biWidth = inside.right;
  info.bmiHeader.biHeight = -inside.bottom;
  info.bmiHeader.biPlanes = 1;
  info.bmiHeader.biBitCount = 32;
  void* bits = nullptr;
  const HDC screen = GetDC(nullptr);
  const HDC memory = CreateCompatibleDC(screen);
  const HBITMAP bitmap = CreateDIBSection(screen, &info, DIB_RGB_COLORS, &bits, nullptr, 0);
  const HGDIOBJ before = SelectObject(memory, bitmap);
  BitBlt(memory, 0, 0, inside.right, inside.bottom, screen, corner.x, corner.y, SRCCOPY);
  GdiFlush();
  const auto* const bytes = static_cast<const uint8_t*>(bits);
  const size_t size = size_t{picture.width} * picture.height * 4;
  for (size_t i = 0; bytes != nullptr && i < size; i += 4) {
    picture.pixels.insert(picture.pixels.end(), {bytes[i + 2], bytes[i + 1], bytes[i], 0xff});
  }
  SelectObject(memory, before);
  DeleteObject(bitmap);
  DeleteDC(memory);
  ReleaseDC(nullptr, screen);
  return picture;
}

void CloseWindowOf(const std::string& title) {
  PostMessageW(Find(title), WM_CLOSE, 0, 0);
}

}  // namespace cairn::testing
