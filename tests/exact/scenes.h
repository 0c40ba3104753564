// SPDX-License-Identifier: Apache-2.0
//
// Scenes: work that leaves bytes behind, which must be the same however the work is run.
#ifndef CAIRN_TESTS_EXACT_SCENES_H_
#define CAIRN_TESTS_EXACT_SCENES_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rig.h"

namespace exact {

struct Scene {
  std::string name;
  std::function<Buffer(Rig& rig)> run;  // the bytes; no words where the device cannot run it
};

std::span<const Scene> DynamicScenes();     // pictures by dynamic rendering
std::span<const Scene> RenderPassScenes();  // pictures by VkRenderPass
std::span<const Scene> ComputeScenes();
std::vector<Scene> RandomScenes(uint32_t count);  // all of it, in any order

// One pass of five draws, the third of which takes long: `trips` of hang.frag for each of its pixels. With two
// subpasses it is no pass that mode exact cuts; with none it is by dynamic rendering.
void DrawWithAHang(Rig& rig, uint32_t subpasses, uint32_t trips);

}  // namespace exact

#endif  // CAIRN_TESTS_EXACT_SCENES_H_
