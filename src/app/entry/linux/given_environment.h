// SPDX-License-Identifier: Apache-2.0
//
// Puts the environment that `cairn run` gave this process back into the environments of the
// programs that it starts. Launchers and sandboxes start their programs with an empty one (env -i,
// bwrap --clearenv), or with lists of their own.
#ifndef CAIRN_APP_ENTRY_LINUX_GIVEN_ENVIRONMENT_H_
#define CAIRN_APP_ENTRY_LINUX_GIVEN_ENVIRONMENT_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// Takes what `cairn run` gave once, when the library is loaded; then asked by any thread, also in a child between vfork
// and exec: no lock, no memory from the heap.
class GivenEnvironment {
 public:
  // Room for a completed environment, on the caller's stack.
  struct Room {
    static constexpr size_t kMostEntries = 2048;
    static constexpr size_t kMostBytes = 8192;
    std::array<char*, kMostEntries> entries;
    std::array<char, kMostBytes> text;
  };

  // `environment`: of this process as it was started, ending with a null. `library`: this library, as LD_PRELOAD names
  // it. Without a watcher's address nothing is taken, and nothing is ever put back.
  void Take(char* const* environment, std::string_view library);

  // Returns true if `environment` (null: an empty one) lacks something that was given, or if the library's file cannot
  // be seen, as behind another root, and `environment` does not say so. Returns false if it leads to another watcher.
  bool IsMissingIn(char* const* environment) const;

  // `environment` with it: CAIRN_... if the watcher's address is missing; the library in front of LD_PRELOAD; the layer
  // at the end of VK_INSTANCE_LAYERS, and its folder of VK_ADD_LAYER_PATH, and of VK_LAYER_PATH if that is set. If the
  // library cannot be seen, neither it nor the folder is named: CAIRN_ENABLE_VULKAN_LAYER=1 enables the installed
  // implicit layer, which a container may show in another place. Points into `room` and `environment`. `environment`
  // itself if it does not fit into the room.
  char* const* Complete(char* const* environment, Room& room) const;

 private:
  bool IsLibraryThere() const;

  std::string address_;               // "NAME=value"
  std::vector<std::string> entries_;  // the address, and others of ours: "NAME=value"
  std::string library_;
  std::string layer_;   // "" without the Vulkan layer
  std::string folder_;  // of its manifest
};

}  // namespace cairn

#endif  // CAIRN_APP_ENTRY_LINUX_GIVEN_ENVIRONMENT_H_
