// SPDX-License-Identifier: Apache-2.0
//
// The picture is the background of the window, so that the server itself shows it again where it was covered.
#include "os/picture_window.h"

#include <fmt/format.h>
#include <poll.h>
#include <xcb/xcb.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "os/library.h"

namespace cairn {
namespace {

// The functions of libxcb that are called here: `cairn` runs without it, too.
#define CAIRN_XCB_FUNCTIONS(X)  \
  X(change_property)            \
  X(change_window_attributes)   \
  X(clear_area)                 \
  X(configure_window)           \
  X(connect)                    \
  X(connection_has_error)       \
  X(create_gc)                  \
  X(create_pixmap)              \
  X(create_window)              \
  X(disconnect)                 \
  X(flush)                      \
  X(free_pixmap)                \
  X(generate_id)                \
  X(get_file_descriptor)        \
  X(get_maximum_request_length) \
  X(get_setup)                  \
  X(intern_atom)                \
  X(intern_atom_reply)          \
  X(map_window)                 \
  X(poll_for_event)             \
  X(put_image)                  \
  X(setup_roots_iterator)

struct Xcb {
#define CAIRN_XCB_MEMBER(name) decltype(&xcb_##name) name = nullptr;
  CAIRN_XCB_FUNCTIONS(CAIRN_XCB_MEMBER)
#undef CAIRN_XCB_MEMBER

  static Result<Xcb> Load() {
    const Result<Library> library = Library::Load(LibraryFile("xcb", 1));
    if (!library.ok()) return library.status();
    Xcb xcb;
    bool complete = true;
#define CAIRN_XCB_FIND(function)                                             \
  xcb.function = library->Find<decltype(&xcb_##function)>("xcb_" #function); \
  complete = complete && xcb.function != nullptr;
    CAIRN_XCB_FUNCTIONS(CAIRN_XCB_FIND)
#undef CAIRN_XCB_FIND
    if (!complete) return Status(StatusCode::kUnsupported, "libxcb lacks a function");
    return xcb;
  }
};

// Bytes of a pixel in the server's memory.
constexpr uint32_t kBytesPerPixel = 4;
// The largest that a coordinate can say.
constexpr uint32_t kMaxSide = INT16_MAX;

class XWindow final : public PictureWindow {
 public:
  XWindow(const Xcb& xcb, xcb_connection_t* connection) : xcb_(xcb), connection_(connection) {}
  ~XWindow() override { xcb_.disconnect(connection_); }
  XWindow(const XWindow&) = delete;
  XWindow& operator=(const XWindow&) = delete;

  Status Create() {
    if (xcb_.connection_has_error(connection_) != 0) {
      const char* const display = std::getenv("DISPLAY");
      return display == nullptr
                 ? Status(StatusCode::kUnsupported,
                          "no window can be shown: DISPLAY names no X server")
                 : Status(StatusCode::kUnsupported,
                          fmt::format("no window can be shown: the X server of DISPLAY={} cannot "
                                      "be reached",
                                      display));
    }
    screen_ = xcb_.setup_roots_iterator(xcb_.get_setup(connection_)).data;
    if (!HasOurColours()) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("no window can be shown: the X server has {} bits a pixel, which "
                                "are not 8 each of red, green and blue",
                                screen_->root_depth));
    }
    window_ = xcb_.generate_id(connection_);
    xcb_.create_window(connection_, XCB_COPY_FROM_PARENT, window_, screen_->root, 0, 0, 1, 1, 0,
                       XCB_WINDOW_CLASS_INPUT_OUTPUT, screen_->root_visual, 0, nullptr);
    context_ = xcb_.generate_id(connection_);
    xcb_.create_gc(connection_, context_, window_, 0, nullptr);
    // Else the server closes the connection when the user closes the window.
    close_ = Atom("WM_DELETE_WINDOW");
    xcb_.change_property(connection_, XCB_PROP_MODE_REPLACE, window_, Atom("WM_PROTOCOLS"),
                         XCB_ATOM_ATOM, 32, 1, &close_);
    return Status();
  }

  Status Show(const std::string& title, uint32_t width, uint32_t height,
              std::span<const uint8_t> pixels) override {
    if (closed_) return Status();
    if (width == 0 || height == 0 || width > kMaxSide || height > kMaxSide ||
        pixels.size() != uint64_t{width} * height * kBytesPerPixel) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("a window cannot show {} x {} pixels", width, height));
    }
    Resize(width, height);
    const xcb_pixmap_t picture = xcb_.generate_id(connection_);
    xcb_.create_pixmap(connection_, screen_->root_depth, picture, window_,
                       static_cast<uint16_t>(width), static_cast<uint16_t>(height));
    Put(picture, width, height, pixels);
    xcb_.change_window_attributes(connection_, window_, XCB_CW_BACK_PIXMAP, &picture);
    xcb_.clear_area(connection_, 0, window_, 0, 0, 0, 0);
    xcb_.free_pixmap(connection_, picture);
    xcb_.change_property(connection_, XCB_PROP_MODE_REPLACE, window_, Atom("_NET_WM_NAME"),
                         Atom("UTF8_STRING"), 8, static_cast<uint32_t>(title.size()), title.data());
    xcb_.flush(connection_);
    if (xcb_.connection_has_error(connection_) == 0) return Status();
    return Status(StatusCode::kIo, "the X server has gone");
  }

  bool WaitUntilClosed(uint32_t timeout_ms) override {
    if (TakeEvents()) return true;
    pollfd server = {xcb_.get_file_descriptor(connection_), POLLIN, 0};
    poll(&server, 1, static_cast<int>(std::min<uint32_t>(timeout_ms, INT32_MAX)));
    return TakeEvents();
  }

 private:
  // Returns true if the root window has the expected colours: our window has the same ones.
  bool HasOurColours() const {
    const xcb_setup_t& setup = *xcb_.get_setup(connection_);
    if (setup.image_byte_order != XCB_IMAGE_ORDER_LSB_FIRST) return false;
    // Depth 24 has pixels of 32 bits on every server there is; 30 has the same size, and other colours.
    return screen_->root_depth == 24 || screen_->root_depth == 32;
  }

  xcb_atom_t Atom(std::string_view name) {
    const xcb_intern_atom_cookie_t asked =
        xcb_.intern_atom(connection_, 0, static_cast<uint16_t>(name.size()), name.data());
    xcb_intern_atom_reply_t* const reply = xcb_.intern_atom_reply(connection_, asked, nullptr);
    const xcb_atom_t atom = reply == nullptr ? xcb_atom_t{XCB_ATOM_NONE} : reply->atom;
    std::free(reply);
    return atom;
  }

  void Resize(uint32_t width, uint32_t height) {
    if (width == width_ && height == height_) return;
    const uint32_t size[] = {width, height};
    xcb_.configure_window(connection_, window_, XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT,
                          size);
    if (width_ == 0) xcb_.map_window(connection_, window_);
    width_ = width;
    height_ = height;
  }

  // Sends the picture in parts that fit into a request.
  void Put(xcb_pixmap_t picture, uint32_t width, uint32_t height, std::span<const uint8_t> pixels) {
    std::vector<uint8_t> turned(pixels.begin(), pixels.end());
    for (size_t i = 0; i < turned.size(); i += kBytesPerPixel) std::swap(turned[i], turned[i + 2]);
    const uint32_t row_bytes = width * kBytesPerPixel;
    const uint64_t most_bytes = uint64_t{xcb_.get_maximum_request_length(connection_)} * 4 -
                                sizeof(xcb_put_image_request_t) - 4;
    const auto most_rows =
        static_cast<uint32_t>(std::clamp<uint64_t>(most_bytes / row_bytes, 1, height));
    for (uint32_t row = 0; row < height; row += most_rows) {
      const uint32_t rows = std::min(most_rows, height - row);
      xcb_.put_image(connection_, XCB_IMAGE_FORMAT_Z_PIXMAP, picture, context_,
                     static_cast<uint16_t>(width), static_cast<uint16_t>(rows), 0,
                     static_cast<int16_t>(row), 0, screen_->root_depth, rows * row_bytes,
                     turned.data() + size_t{row} * row_bytes);
    }
  }

  bool TakeEvents() {
    while (xcb_generic_event_t* const event = xcb_.poll_for_event(connection_)) {
      if ((event->response_type & 0x7f) == XCB_CLIENT_MESSAGE) {
        const auto& message = *reinterpret_cast<const xcb_client_message_event_t*>(event);
        closed_ = closed_ || message.data.data32[0] == close_;
      }
      std::free(event);
    }
    closed_ = closed_ || xcb_.connection_has_error(connection_) != 0;
    return closed_;
  }

  const Xcb xcb_;
  xcb_connection_t* const connection_;
  xcb_screen_t* screen_ = nullptr;
  xcb_window_t window_ = 0;
  xcb_gcontext_t context_ = 0;
  xcb_atom_t close_ = XCB_ATOM_NONE;
  uint32_t width_ = 0;
  uint32_t height_ = 0;
  bool closed_ = false;
};

}  // namespace

Result<std::unique_ptr<PictureWindow>> PictureWindow::Open() {
  const Result<Xcb> xcb = Xcb::Load();
  if (!xcb.ok()) {
    return Status(StatusCode::kUnsupported, "no window can be shown: " + xcb.status().message());
  }
  auto window = std::make_unique<XWindow>(*xcb, xcb->connect(nullptr, nullptr));
  if (const Status status = window->Create(); !status.ok()) return status;
  return std::unique_ptr<PictureWindow>(std::move(window));
}

}  // namespace cairn
