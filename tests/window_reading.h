// SPDX-License-Identifier: Apache-2.0
//
// Windows of other processes: window_reading_linux.cc, window_reading_windows.cc.
#ifndef CAIRN_TESTS_WINDOW_READING_H_
#define CAIRN_TESTS_WINDOW_READING_H_

#include <string>
#include <vector>

#include "d3d12abi/image_formats.h"

namespace cairn::testing {

// False where there is none to show a window on: on Linux where Xvfb is not installed.
bool HasScreen();
// Settings with which programs show their windows there.
std::vector<std::string> ScreenEnvironment();

// Returns the picture in the window with this title, opaque. Waits for it; empty after a minute.
RgbaImage PictureOfWindow(const std::string& title);

// Closes it as its user would.
void CloseWindowOf(const std::string& title);

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_WINDOW_READING_H_
