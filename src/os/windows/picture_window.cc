// SPDX-License-Identifier: Apache-2.0
//
// The window has a thread of its own, so that it answers its user while nobody has a picture for it.
#include "os/picture_window.h"

#include <fmt/format.h>

#include <thread>
#include <utility>
#include <vector>

#include "os/windows/system.h"

namespace cairn {
namespace {

constexpr wchar_t kClass[] = L"cairn-picture";
constexpr DWORD kStyle = WS_CAPTION | WS_SYSMENU | WS_MINIMIZEBOX;
constexpr UINT kShow = WM_APP;  // with a Picture
constexpr UINT kLeave = WM_APP + 1;
constexpr uint32_t kMaxSide = INT16_MAX;
constexpr uint32_t kBytesPerPixel = 4;

struct Picture {
  std::wstring title;
  int width = 0;
  int height = 0;
  std::vector<uint8_t> pixels;  // blue, green, red and nothing
};

class GdiWindow final : public PictureWindow {
 public:
  GdiWindow() = default;
  ~GdiWindow() override {
    if (window_ != nullptr) SendMessageW(window_, kLeave, 0, 0);
    if (thread_.joinable()) thread_.join();
  }
  GdiWindow(const GdiWindow&) = delete;
  GdiWindow& operator=(const GdiWindow&) = delete;

  Status Create() {
    made_ = Owned(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    closed_ = Owned(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    thread_ = std::thread([this] { Run(); });
    WaitForSingleObject(HandleOf(made_), INFINITE);
    return status_;
  }

  Status Show(const std::string& title, uint32_t width, uint32_t height,
              std::span<const uint8_t> pixels) override {
    if (width == 0 || height == 0 || width > kMaxSide || height > kMaxSide ||
        pixels.size() != uint64_t{width} * height * kBytesPerPixel) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("a window cannot show {} x {} pixels", width, height));
    }
    Picture picture = {Wide(title),
                       static_cast<int>(width),
                       static_cast<int>(height),
                       {pixels.begin(), pixels.end()}};
    for (size_t i = 0; i < picture.pixels.size(); i += kBytesPerPixel) {
      std::swap(picture.pixels[i], picture.pixels[i + 2]);
    }
    // Returns when it is shown; at once if the window is gone.
    SendMessageW(window_, kShow, 0, reinterpret_cast<LPARAM>(&picture));
    return Status();
  }

  bool WaitUntilClosed(uint32_t timeout_ms) override {
    return WaitForSingleObject(HandleOf(closed_), timeout_ms) == WAIT_OBJECT_0;
  }

 private:
  void Run() {
    WNDCLASSEXW description = {};
    description.cbSize = sizeof(description);
    description.lpfnWndProc = OnMessage;
    description.hInstance = GetModuleHandleW(nullptr);
    description.hCursor = LoadCursorW(nullptr, MAKEINTRESOURCEW(32512));  // IDC_ARROW
    description.lpszClassName = kClass;
    RegisterClassExW(&description);  // fails where it has been, which is as well
    window_ = CreateWindowExW(0, kClass, L"", kStyle, CW_USEDEFAULT, CW_USEDEFAULT, 1, 1, nullptr,
                              nullptr, description.hInstance, nullptr);
    if (window_ == nullptr) {
      status_ =
          Status(StatusCode::kUnsupported, StatusFromLastError("no window can be shown").message());
    } else {
      SetWindowLongPtrW(window_, GWLP_USERDATA, reinterpret_cast<LONG_PTR>(this));
    }
    SetEvent(HandleOf(made_));
    if (window_ == nullptr) return;
    MSG message = {};
    while (GetMessageW(&message, nullptr, 0, 0) > 0) DispatchMessageW(&message);
  }

  static LRESULT CALLBACK OnMessage(HWND window, UINT message, WPARAM word, LPARAM value) {
    auto* const self = reinterpret_cast<GdiWindow*>(GetWindowLongPtrW(window, GWLP_USERDATA));
    if (self == nullptr) return DefWindowProcW(window, message, word, value);
    switch (message) {
      case kShow: self->Take(std::move(*reinterpret_cast<Picture*>(value))); return 0;
      case kLeave: DestroyWindow(window); return 0;
      case WM_PAINT: self->Paint(); return 0;
      case WM_GETMINMAXINFO:  // else small pictures would have a border
        reinterpret_cast<MINMAXINFO*>(value)->ptMinTrackSize = {1, 1};
        return 0;
      case WM_DESTROY:
        SetEvent(HandleOf(self->closed_));
        PostQuitMessage(0);
        return 0;
      default: return DefWindowProcW(window, message, word, value);
    }
  }

  void Take(Picture picture) {
    const bool same_size = picture.width == picture_.width && picture.height == picture_.height;
    picture_ = std::move(picture);
    if (!same_size) {
      RECT outside = {0, 0, picture_.width, picture_.height};
      AdjustWindowRect(&outside, kStyle, FALSE);
      SetWindowPos(window_, nullptr, 0, 0, outside.right - outside.left,
                   outside.bottom - outside.top,
                   SWP_NOMOVE | SWP_NOZORDER | SWP_NOACTIVATE | SWP_SHOWWINDOW);
    }
    RedrawWindow(window_, nullptr, nullptr, RDW_INVALIDATE | RDW_UPDATENOW);
    SetWindowTextW(window_, picture_.title.c_str());
  }

  void Paint() const {
    PAINTSTRUCT paint = {};
    const HDC target = BeginPaint(window_, &paint);
    BITMAPINFO info = {};
    info.bmiHeader.biSize = sizeof(info.bmiHeader);
    info.bmiHeader.biWidth = picture_.width;
    info.bmiHeader.biHeight = -picture_.height;  // the top row first
    info.bmiHeader.biPlanes = 1;
    info.bmiHeader.biBitCount = 8 * kBytesPerPixel;
    if (!picture_.pixels.empty()) {
      SetDIBitsToDevice(
          target, 0, 0, static_cast<DWORD>(picture_.width), static_cast<DWORD>(picture_.height), 0,
          0, 0, static_cast<UINT>(picture_.height), picture_.pixels.data(), &info, DIB_RGB_COLORS);
    }
    EndPaint(window_, &paint);
  }

  SystemHandle made_;
  SystemHandle closed_;
  std::thread thread_;
  HWND window_ = nullptr;
  Status status_;
  Picture picture_;  // of the window's thread
};

}  // namespace

Result<std::unique_ptr<PictureWindow>> PictureWindow::Open() {
  auto window = std::make_unique<GdiWindow>();
  if (const Status status = window->Create(); !status.ok()) return status;
  return std::unique_ptr<PictureWindow>(std::move(window));
}

}  // namespace cairn
