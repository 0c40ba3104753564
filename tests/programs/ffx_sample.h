// SPDX-License-Identifier: Apache-2.0
//
// The render loop of FidelityFX Breadcrumbs' published sample: the calls of its documentation in their
// order, on a list that is used again in every frame. ffx_sample_d3d12 and ffx_sample_vulkan say what a
// device, a list and a draw are.
#ifndef CAIRN_TESTS_PROGRAMS_FFX_SAMPLE_H_
#define CAIRN_TESTS_PROGRAMS_FFX_SAMPLE_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "cairn/compat/ffx_breadcrumbs.h"

namespace ffx_sample {

inline void Check(FfxErrorCode error, const char* call) {
  if (error == FFX_OK) return;
  std::fprintf(stderr, "ffx_sample: %s returned %#x: %s\n", call, static_cast<unsigned>(error),
               cairnGetLastErrorMessage());
  std::exit(2);
}

enum class Draw { kFirst, kSecond };

// The differences between the APIs.
struct Scene {
  virtual ~Scene() = default;
  virtual FfxCommandList List() = 0;
  virtual FfxPipeline Pipeline(Draw draw) = 0;
  virtual FfxBreadcrumbsMarkerType Type(Draw draw) = 0;
  virtual void Open() = 0;
  virtual void Record(Draw draw) = 0;
  virtual void Clear() = 0;
  // Closes and executes the list, and waits for the GPU.
  virtual void Execute() = 0;
};

inline void Marker(FfxBreadcrumbsContext* context, FfxCommandList list,
                   FfxBreadcrumbsMarkerType type, const char* name) {
  const FfxBreadcrumbsNameTag tag = {name, true};
  Check(ffxBreadcrumbsBeginMarker(context, list, type, &tag), "ffxBreadcrumbsBeginMarker");
}

inline void EndMarker(FfxBreadcrumbsContext* context, FfxCommandList list) {
  Check(ffxBreadcrumbsEndMarker(context, list), "ffxBreadcrumbsEndMarker");
}

inline void RegisterPipelines(FfxBreadcrumbsContext* context, Scene& scene) {
  FfxBreadcrumbsPipelineStateDescription desc = {};
  desc.pipeline = scene.Pipeline(Draw::kFirst);
  desc.vertexShader = {"PhongVS", true};
  Check(ffxBreadcrumbsRegisterPipeline(context, &desc), "ffxBreadcrumbsRegisterPipeline");
  const std::string name = std::string("Toon") + "VS";
  desc.pipeline = scene.Pipeline(Draw::kSecond);
  desc.vertexShader = {name.c_str(), false};
  Check(ffxBreadcrumbsRegisterPipeline(context, &desc), "ffxBreadcrumbsRegisterPipeline");
}

inline void Register(FfxBreadcrumbsContext* context, Scene& scene, uint32_t queue) {
  FfxBreadcrumbsCommandListDescription desc = {};
  desc.commandList = scene.List();
  desc.queueType = queue;
  desc.name = {"Sample command list", true};
  desc.pipeline = scene.Pipeline(Draw::kFirst);
  Check(ffxBreadcrumbsRegisterCommandList(context, &desc), "ffxBreadcrumbsRegisterCommandList");
}

inline void Frame(FfxBreadcrumbsContext* context, Scene& scene, uint32_t queue, bool before) {
  Check(ffxBreadcrumbsStartFrame(context), "ffxBreadcrumbsStartFrame");
  if (before) Register(context, scene, queue);
  scene.Open();
  if (!before) Register(context, scene, queue);
  const FfxCommandList list = scene.List();
  Marker(context, list, FFX_BREADCRUMBS_MARKER_PASS, "Main Rendering");
  Marker(context, list, scene.Type(Draw::kFirst), nullptr);
  scene.Record(Draw::kFirst);
  EndMarker(context, list);
  Check(ffxBreadcrumbsSetPipeline(context, list, scene.Pipeline(Draw::kSecond)),
        "ffxBreadcrumbsSetPipeline");
  Marker(context, list, scene.Type(Draw::kSecond), "Draw simple triangle");
  scene.Record(Draw::kSecond);
  EndMarker(context, list);
  Check(ffxBreadcrumbsSetPipeline(context, list, nullptr), "ffxBreadcrumbsSetPipeline");
  EndMarker(context, list);
  Marker(context, list, FFX_BREADCRUMBS_MARKER_CLEAR_RENDER_TARGET, nullptr);
  scene.Clear();
  EndMarker(context, list);
  scene.Execute();
}

// `order` is "before" or "after": when a list is registered, seen from its opening.
inline int Run(Scene& scene, FfxBreadcrumbsContextDescription desc, const char* order) {
  uint32_t queue = 0;
  desc.flags = FFX_BREADCRUMBS_PRINT_FINISHED_LISTS | FFX_BREADCRUMBS_PRINT_FINISHED_NODES |
               FFX_BREADCRUMBS_PRINT_SKIP_DEVICE_INFO;
  desc.frameHistoryLength = 4;
  desc.maxMarkersPerMemoryBlock = 3;
  desc.usedGpuQueuesCount = 1;
  desc.pUsedGpuQueues = &queue;
  FfxBreadcrumbsContext context = {};
  Check(ffxBreadcrumbsContextCreate(&context, &desc), "ffxBreadcrumbsContextCreate");
  RegisterPipelines(&context, scene);
  for (int frame = 0; frame < 2; ++frame) {
    Frame(&context, scene, queue, std::strcmp(order, "before") == 0);
  }
  FfxBreadcrumbsMarkersStatus status = {};
  Check(ffxBreadcrumbsPrintStatus(&context, &status), "ffxBreadcrumbsPrintStatus");
  std::fwrite(status.pBuffer, 1, status.bufferSize, stdout);
  FFX_FREE(status.pBuffer);
  Check(ffxBreadcrumbsContextDestroy(&context), "ffxBreadcrumbsContextDestroy");
  return 0;
}

}  // namespace ffx_sample

#endif  // CAIRN_TESTS_PROGRAMS_FFX_SAMPLE_H_
