// SPDX-License-Identifier: Apache-2.0
//
// A Vulkan program that knows nothing of Cairn.
//   exact_scenes FOLDER [RANDOM]      writes the bytes of each scene to FOLDER/NAME, and prints the names;
//                                     6 of them are random, or RANDOM
//   exact_scenes hang SUBPASSES TRIPS draws five times in one pass; the third takes long. 0 subpasses:
//                                     by dynamic rendering
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "scenes.h"

namespace exact {
namespace {

void Write(const Scene& scene, Rig& rig, const std::string& folder) {
  const Buffer bytes = scene.run(rig);
  const std::string path = folder + "/" + scene.name;
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) Fail("cannot write " + path);
  if (bytes.word_count != 0) std::fwrite(bytes.words, 4, bytes.word_count, file);
  std::fclose(file);
  std::printf("%s\n", scene.name.c_str());
}

int Main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "hang") == 0) {
    Rig rig;
    DrawWithAHang(rig, static_cast<uint32_t>(std::atoi(argv[2])),
                  static_cast<uint32_t>(std::atoi(argv[3])));
    std::printf("it is over\n");
    return 0;
  }
  if (argc != 2 && argc != 3) Fail("give a folder, or: hang SUBPASSES TRIPS");
  Rig rig;
  const std::vector<Scene> random =
      RandomScenes(argc == 3 ? static_cast<uint32_t>(std::atoi(argv[2])) : 6);
  for (const std::span<const Scene> scenes :
       {DynamicScenes(), RenderPassScenes(), ComputeScenes(), std::span<const Scene>(random)}) {
    for (const Scene& scene : scenes) Write(scene, rig, argv[1]);
  }
  return 0;
}

}  // namespace
}  // namespace exact

int main(int argc, char** argv) {
  return exact::Main(argc, argv);
}
