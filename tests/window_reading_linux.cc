// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <xcb/xcb.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "screen_of_tests.h"
#include "window_reading.h"

namespace cairn::testing {
namespace {

template <typename Reply>
using Owned = std::unique_ptr<Reply, decltype(&std::free)>;
template <typename Reply>
Owned<Reply> Own(Reply* reply) {
  return {reply, &std::free};
}

class Display {
 public:
  explicit Display(const std::string& name) : connection_(xcb_connect(name.c_str(), nullptr)) {}
  ~Display() { xcb_disconnect(connection_); }
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  xcb_connection_t* get() const { return connection_; }

  xcb_atom_t Atom(const std::string& name) const {
    const auto reply = Own(xcb_intern_atom_reply(
        connection_,
        xcb_intern_atom(connection_, 0, static_cast<uint16_t>(name.size()), name.c_str()),
        nullptr));
    return reply == nullptr ? xcb_atom_t{XCB_ATOM_NONE} : reply->atom;
  }

  // Looks for a minute; 0 if there is none.
  xcb_window_t Find(const std::string& title) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < end && xcb_connection_has_error(connection_) == 0) {
      const xcb_window_t root = xcb_setup_roots_iterator(xcb_get_setup(connection_)).data->root;
      const auto tree =
          Own(xcb_query_tree_reply(connection_, xcb_query_tree(connection_, root), nullptr));
      for (int i = 0; tree != nullptr && i < xcb_query_tree_children_length(tree.get()); ++i) {
        const xcb_window_t window = xcb_query_tree_children(tree.get())[i];
        if (TitleOf(window) == title) return window;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return 0;
  }

 private:
  std::string TitleOf(xcb_window_t window) const {
    const auto reply = Own(xcb_get_property_reply(
        connection_,
        xcb_get_property(connection_, 0, window, Atom("_NET_WM_NAME"), Atom("UTF8_STRING"), 0, 256),
        nullptr));
    if (reply == nullptr) return "";
    return {static_cast<const char*>(xcb_get_property_value(reply.get())),
            static_cast<size_t>(xcb_get_property_value_length(reply.get()))};
  }

  xcb_connection_t* const connection_;
};

}  // namespace

bool HasScreen() {
  return !Screen::Display().empty();
}

std::vector<std::string> ScreenEnvironment() {
  return {"DISPLAY=" + Screen::Display()};
}

RgbaImage PictureOfWindow(const std::string& title) {
  const Display screen(Screen::Display());
  RgbaImage picture;
  const xcb_window_t window = screen.Find(title);
  const auto size =
      Own(xcb_get_geometry_reply(screen.get(), xcb_get_geometry(screen.get(), window), nullptr));
  if (window == 0 || size == nullptr) return picture;
  const auto image =
      Own(xcb_get_image_reply(screen.get(),
                              xcb_get_image(screen.get(), XCB_IMAGE_FORMAT_Z_PIXMAP, window, 0, 0,
                                            size->width, size->height, ~0u),
                              nullptr));
  if (image == nullptr) return picture;
  picture.width = size->width;
  picture.height = size->height;
  const uint8_t* const bytes = xcb_get_image_data(image.get());
  for (int i = 0; i + 4 <= xcb_get_image_data_length(image.get()); i += 4) {
    picture.pixels.insert(picture.pixels.end(), {bytes[i + 2], bytes[i + 1], bytes[i], 0xff});
  }
  return picture;
}

void CloseWindowOf(const std::string& title) {
  const Display screen(Screen::Display());
  xcb_client_message_event_t event = {};
  event.response_type = XCB_CLIENT_MESSAGE;
  event.format = 32;
  event.window = screen.Find(title);
  event.type = screen.Atom("WM_PROTOCOLS");
  event.data.data32[0] = screen.Atom("WM_DELETE_WINDOW");
  xcb_send_event(screen.get(), 0, event.window, XCB_EVENT_MASK_NO_EVENT,
                 reinterpret_cast<const char*>(&event));
  // The server has taken it once it answers: what it has not read may be lost with the connection.
  std::free(xcb_get_input_focus_reply(screen.get(), xcb_get_input_focus(screen.get()), nullptr));
}

}  // namespace cairn::testing
