// SPDX-License-Identifier: Apache-2.0
//
// A window that shows pictures, one after the other. On Linux it is one of X11, whose library is loaded when a window is
// wanted.
#ifndef CAIRN_OS_PICTURE_WINDOW_H_
#define CAIRN_OS_PICTURE_WINDOW_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace cairn {

// For one thread. It goes with the object.
class PictureWindow {
 public:
  // Opens a window, which is hidden until it shows a picture. kUnsupported: this session has no
  // screen, or one with other colours.
  static Result<std::unique_ptr<PictureWindow>> Open();
  virtual ~PictureWindow() = default;

  // 4 bytes a pixel, red, green, blue and one that is not looked at; the top row first, no padding. The window takes
  // the picture's size, and, when it shows it, the title. Does nothing once it is closed. kInvalidArgument: not as
  // many pixels as width and height say, or more than a window can have; kIo.
  virtual Status Show(const std::string& title, uint32_t width, uint32_t height,
                      std::span<const uint8_t> pixels) = 0;

  // Waits until the user closes the window, the time is up, or a signal arrives. Returns true if it
  // is closed.
  virtual bool WaitUntilClosed(uint32_t timeout_ms) = 0;
};

}  // namespace cairn

#endif  // CAIRN_OS_PICTURE_WINDOW_H_
