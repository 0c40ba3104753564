// SPDX-License-Identifier: Apache-2.0
//
// A frame of one list with draws and dispatches, for programs in which the GPU stands still inside the dispatch "Blur".
#ifndef CAIRN_TESTS_PROGRAMS_SIMULATED_FRAME_H_
#define CAIRN_TESTS_PROGRAMS_SIMULATED_FRAME_H_

#include "programs/simulated_device.h"

// Writes of the frame below up to and including the beginning of "Blur".
inline constexpr size_t kWritesIntoBlur = 8;

inline void Draw(CairnCommandList* list, CairnMarkerType type, const char* name) {
  Must(cairnBeginMarker(list, type, name, CAIRN_NAME_STATIC), "cairnBeginMarker");
  Must(cairnEndMarker(list), "cairnEndMarker");
}

inline CairnPipeline RegisterPipeline(SimulatedDevice& device, const char* name,
                                      const char* compute) {
  CairnPipelineDesc desc{};
  desc.struct_size = sizeof(desc);
  desc.name = name;
  if (compute != nullptr) {
    desc.compute_shader = compute;
  } else {
    desc.vertex_shader = "MainVS";
    desc.pixel_shader = "MainPS";
  }
  CairnPipeline pipeline = 0;
  Must(cairnRegisterPipeline(device.context(), &desc, &pipeline), "cairnRegisterPipeline");
  return pipeline;
}

inline void RecordFrame(SimulatedDevice& device, SimulatedCommandList& native) {
  const CairnPipeline graphics = RegisterPipeline(device, "Basic", nullptr);
  const CairnPipeline compute = RegisterPipeline(device, "Blur", "BlurCS");
  Must(cairnBeginFrame(device.context()), "cairnBeginFrame");
  CairnCommandListDesc desc{};
  desc.struct_size = sizeof(desc);
  desc.native = &native;
  desc.queue = device.queue();
  desc.name = "Main";
  desc.pipeline = graphics;
  CairnCommandList* list = nullptr;
  Must(cairnBeginCommandList(device.context(), &desc, &list), "cairnBeginCommandList");
  Must(cairnBeginMarker(list, CAIRN_MARKER_PASS, "Frame", CAIRN_NAME_STATIC), "cairnBeginMarker");
  Must(cairnBeginMarker(list, CAIRN_MARKER_PASS, "Opaque", CAIRN_NAME_STATIC), "cairnBeginMarker");
  Draw(list, CAIRN_MARKER_DRAW_INDEXED, nullptr);
  Draw(list, CAIRN_MARKER_DRAW_INDEXED, nullptr);
  Must(cairnEndMarker(list), "cairnEndMarker");
  Must(cairnSetPipeline(list, compute), "cairnSetPipeline");
  Draw(list, CAIRN_MARKER_DISPATCH, "Blur");
  Draw(list, CAIRN_MARKER_DISPATCH, nullptr);
  Must(cairnEndMarker(list), "cairnEndMarker");
  Must(cairnEndCommandList(list), "cairnEndCommandList");
  Must(cairnNotifySubmit(device.context(), device.queue(), &list, 1), "cairnNotifySubmit");
}

#endif  // CAIRN_TESTS_PROGRAMS_SIMULATED_FRAME_H_
