// SPDX-License-Identifier: Apache-2.0
//
// A library to preload into Vulkan programs with an X11 window, for tests: makes every run of a
// program draw the same frames, takes a picture of the window after one of them, and ends the program.
//   STOP_AT_FRAME=N         frames are counted from 1; nothing happens without it
//   STOP_AT_FRAME_FILE=F    writes the window's content to F: "WIDTH HEIGHT\n", then 4 bytes a pixel
//   STOP_AT_FRAME_THEN=     close: the window's close button is pressed (default)
//                           kill: SIGKILL, before the frame is presented: its work was submitted
//                           STOP_AT_FRAME_DELAY_US microseconds ago (0 without it)
//                           report: as close, and prints the mean time of a frame since frame 10
// For programs that end by themselves, and whose presentations are found out through Vulkan itself:
//   PICTURE_AFTER=N         writes the window's content to PICTURE_FILE after N images were sent to the X server
// Time as gettimeofday tells it advances by 1/60 s a frame. The swapchain presents at once; a driver may do it
// in a thread of its own, so that a picture waits until as many images were sent to the X server.
#define VK_USE_PLATFORM_XCB_KHR
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <vulkan/vulkan.h>
#include <xcb/xcb.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define VISIBLE extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kFirstMeasuredFrame = 10;

template <typename Function>
Function* Next(const char* name, Function*) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    // The program has loaded the Vulkan loader itself, which finds its own functions here first.
    found = dlsym(dlopen("libvulkan.so.1", RTLD_NOW | RTLD_NOLOAD), name);
  }
  return reinterpret_cast<Function*>(found);
}

int FrameToStopAt() {
  static const int frame = [] {
    const char* const text = std::getenv("STOP_AT_FRAME");
    return text == nullptr ? 0 : std::atoi(text);
  }();
  return frame;
}

std::string Setting(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

struct Window {
  xcb_connection_t* connection = nullptr;
  xcb_window_t window = 0;
};
Window g_window;
std::atomic<int> g_frame{0};
std::atomic<int> g_sent{0};  // images to the X server, by drivers that draw without a GPU
double g_measured_from = 0;

double Now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// On the program's own connection, whose requests are done in order: after what the frame drew.
void WritePicture(const std::string& path) {
  auto* const geometry = xcb_get_geometry_reply(
      g_window.connection, xcb_get_geometry(g_window.connection, g_window.window), nullptr);
  if (geometry == nullptr) return;
  auto* const image = xcb_get_image_reply(
      g_window.connection,
      xcb_get_image(g_window.connection, XCB_IMAGE_FORMAT_Z_PIXMAP, g_window.window, 0, 0,
                    geometry->width, geometry->height, ~0u),
      nullptr);
  if (image != nullptr) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    std::fprintf(file, "%d %d\n", geometry->width, geometry->height);
    std::fwrite(xcb_get_image_data(image), 1, static_cast<size_t>(xcb_get_image_data_length(image)),
                file);
    std::fclose(file);
  }
  std::free(image);
  std::free(geometry);
}

xcb_atom_t Atom(const char* name) {
  auto* const reply = xcb_intern_atom_reply(
      g_window.connection,
      xcb_intern_atom(g_window.connection, 0, static_cast<uint16_t>(std::strlen(name)), name),
      nullptr);
  const xcb_atom_t atom = reply == nullptr ? xcb_atom_t{0} : reply->atom;
  std::free(reply);
  return atom;
}

void PressCloseButton() {
  xcb_client_message_event_t event{};
  event.response_type = XCB_CLIENT_MESSAGE;
  event.format = 32;
  event.window = g_window.window;
  event.type = Atom("WM_PROTOCOLS");
  event.data.data32[0] = Atom("WM_DELETE_WINDOW");
  xcb_send_event(g_window.connection, 0, g_window.window, XCB_EVENT_MASK_NO_EVENT,
                 reinterpret_cast<const char*>(&event));
  xcb_flush(g_window.connection);
}

[[noreturn]] void DieInTheMiddleOfTheFrame() {
  const double end = Now() + std::atoi(Setting("STOP_AT_FRAME_DELAY_US").c_str()) * 1e-6;
  while (Now() < end) {
  }
  raise(SIGKILL);
  std::abort();
}

void Sent() {
  static const int last = std::atoi(Setting("PICTURE_AFTER").c_str());
  if (++g_sent == last && g_window.connection != nullptr) WritePicture(Setting("PICTURE_FILE"));
}

// Those that draw with a GPU send nothing: then the limit is all that there is to wait for.
void WaitUntilSent(int frame) {
  constexpr double kLimitS = 5;
  const double end = Now() + kLimitS;
  while (g_sent < frame && Now() < end) sched_yield();
}

void Stop() {
  WaitUntilSent(FrameToStopAt());
  if (const std::string path = Setting("STOP_AT_FRAME_FILE"); !path.empty()) WritePicture(path);
  if (Setting("STOP_AT_FRAME_THEN") == "report") {
    std::printf("frame %.9f\n",
                (Now() - g_measured_from) / (FrameToStopAt() - kFirstMeasuredFrame));
    std::fflush(stdout);
  }
  PressCloseButton();
}

}  // namespace

VISIBLE int gettimeofday(timeval* time, void* zone) noexcept {
  if (FrameToStopAt() == 0) return Next("gettimeofday", &gettimeofday)(time, zone);
  constexpr int kMicroseconds = 1'000'000;
  const int64_t elapsed_us = int64_t{g_frame.load()} * kMicroseconds / 60;
  time->tv_sec = 1'000'000'000 + elapsed_us / kMicroseconds;
  time->tv_usec = elapsed_us % kMicroseconds;
  return 0;
}

VISIBLE xcb_void_cookie_t xcb_put_image(xcb_connection_t* connection, uint8_t format,
                                        xcb_drawable_t drawable, xcb_gcontext_t context,
                                        uint16_t width, uint16_t height, int16_t x, int16_t y,
                                        uint8_t left_pad, uint8_t depth, uint32_t size,
                                        const uint8_t* data) {
  const xcb_void_cookie_t cookie = Next("xcb_put_image", &xcb_put_image)(
      connection, format, drawable, context, width, height, x, y, left_pad, depth, size, data);
  Sent();
  return cookie;
}

// From memory that is shared with the server.
VISIBLE xcb_void_cookie_t xcb_shm_put_image(xcb_connection_t* connection, xcb_drawable_t drawable,
                                            xcb_gcontext_t context, uint16_t total_width,
                                            uint16_t total_height, uint16_t source_x,
                                            uint16_t source_y, uint16_t width, uint16_t height,
                                            int16_t x, int16_t y, uint8_t depth, uint8_t format,
                                            uint8_t send_event, uint32_t segment, uint32_t offset) {
  const xcb_void_cookie_t cookie = Next("xcb_shm_put_image", &xcb_shm_put_image)(
      connection, drawable, context, total_width, total_height, source_x, source_y, width, height,
      x, y, depth, format, send_event, segment, offset);
  Sent();
  return cookie;
}

VISIBLE VkResult vkCreateXcbSurfaceKHR(VkInstance instance, const VkXcbSurfaceCreateInfoKHR* info,
                                       const VkAllocationCallbacks* allocator,
                                       VkSurfaceKHR* surface) {
  g_window = {info->connection, info->window};
  return Next("vkCreateXcbSurfaceKHR", &vkCreateXcbSurfaceKHR)(instance, info, allocator, surface);
}

VISIBLE VkResult vkCreateSwapchainKHR(VkDevice device, const VkSwapchainCreateInfoKHR* info,
                                      const VkAllocationCallbacks* allocator,
                                      VkSwapchainKHR* swapchain) {
  VkSwapchainCreateInfoKHR changed = *info;
  if (FrameToStopAt() != 0) changed.presentMode = VK_PRESENT_MODE_IMMEDIATE_KHR;
  return Next("vkCreateSwapchainKHR", &vkCreateSwapchainKHR)(device, &changed, allocator,
                                                             swapchain);
}

VISIBLE VkResult vkQueuePresentKHR(VkQueue queue, const VkPresentInfoKHR* info) {
  const int frame = ++g_frame;
  const bool stop = frame == FrameToStopAt();
  if (stop && Setting("STOP_AT_FRAME_THEN") == "kill") DieInTheMiddleOfTheFrame();
  const VkResult result = Next("vkQueuePresentKHR", &vkQueuePresentKHR)(queue, info);
  if (frame == kFirstMeasuredFrame) g_measured_from = Now();
  if (stop) Stop();
  return result;
}
