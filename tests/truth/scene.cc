// SPDX-License-Identifier: Apache-2.0
#include "truth/scene.h"

namespace cairn::truth {
namespace {

constexpr WorkType kDispatchIndirect = WorkType::kDispatchIndirect;
constexpr WorkType kDraw = WorkType::kDraw;
constexpr WorkType kDrawIndexed = WorkType::kDrawIndexed;
constexpr WorkType kDrawIndirect = WorkType::kDrawIndirect;

ListPlan Simulation() {
  return {"Simulation",
          QueueKind::kGraphics,
          {{"Simulate",
            Section::kPlain,
            {{"Emit"}, {"Integrate"}, {"Collide"}, {"Sort", WorkType::kDispatch, 4}, {"Compact"}}},
           {"Cull",
            Section::kPlain,
            {{"Instances", kDispatchIndirect, 1, false},
             {"Lights", WorkType::kDispatch, 1, false},
             {"Arguments"}}}}};
}

ListPlan Async() {
  return {"Async",
          QueueKind::kCompute,
          {{"Ambient occlusion", Section::kPlain, {{"Downsample"}, {"Trace"}, {"Blur"}}},
           {"Skinning", Section::kPlain, {{"Bones"}, {"Vertices", kDispatchIndirect}}},
           {"Clusters",
            Section::kPlain,
            {{"Bounds", WorkType::kDispatch, 1, false},
             {"Assign", WorkType::kDispatch, 1, false},
             {"Compact"}}}}};
}

ListPlan Main() {
  return {
      "Main",
      QueueKind::kGraphics,
      {{"Shadows",
        Section::kRendering,
        {{"Cascade 1", kDraw, 2}, {"Cascade 2", kDraw, 2}, {"Cascade 3", kDraw, 2}}},
       {"Opaque",
        Section::kRendering,
        {{"Terrain", kDrawIndexed},
         {"Buildings", kDrawIndexed},
         {"Characters", kDrawIndirect},
         {"Foliage", kDraw}}},
       {"Decals",
        Section::kSecondaryInRendering,
        {{"Dirt", kDraw}, {"Blood", kDraw}, {"Signs", kDrawIndexed}}},
       {"Lighting", Section::kPlain, {{"Tiles"}, {"Probes"}, {"Denoise", WorkType::kDispatch, 2}}},
       {"Fog", Section::kSecondary, {{"Scatter"}, {"Accumulate"}}},
       {"Transparent", Section::kRendering, {{"Glass", kDraw}, {"Particles", kDrawIndirect}}}}};
}

ListPlan Post() {
  return {
      "Post",
      QueueKind::kGraphics,
      {{"Readback", Section::kPlain, {{"Statistics", WorkType::kFill}}},
       {"Bloom",
        Section::kPlain,
        {{"Down 1"}, {"Down 2"}, {"Down 3"}, {"Down 4"}, {"Up 4"}, {"Up 3"}, {"Up 2"}, {"Up 1"}}},
       {"Finish", Section::kPlain, {{"Tone map"}, {"Grade"}, {"Final"}}}}};
}

std::vector<ListPlan> WithoutRendering(std::vector<ListPlan> frame) {
  for (ListPlan& list : frame) {
    for (PassPlan& pass : list.passes) {
      if (IsRendering(pass.section)) pass = {pass.name, Section::kPlain, {}};
    }
  }
  return frame;
}

}  // namespace

bool IsRendering(Section section) {
  return section == Section::kRendering || section == Section::kSecondaryInRendering;
}

const char* NameOf(WorkType type) {
  switch (type) {
    case WorkType::kDispatch: return "DISPATCH";
    case WorkType::kDispatchIndirect: return "DISPATCH_INDIRECT";
    case WorkType::kDraw: return "DRAW";
    case WorkType::kDrawIndexed: return "DRAW_INDEXED";
    case WorkType::kDrawIndirect: return "DRAW_INDIRECT";
    case WorkType::kFill: return "FILL_BUFFER";
    case WorkType::kWaitEvent: return "WAIT_EVENTS";
  }
  return "";
}

bool IsDraw(WorkType type) {
  return type == kDraw || type == kDrawIndexed || type == kDrawIndirect;
}

const char* NameOf(FrameKind kind) {
  return kind == FrameKind::kWhole ? "whole" : "dispatches";
}

const std::vector<ListPlan>& Frame(FrameKind kind) {
  static const std::vector<ListPlan> whole = {Simulation(), Async(), Main(), Post()};
  static const std::vector<ListPlan> dispatches = WithoutRendering(whole);
  return kind == FrameKind::kWhole ? whole : dispatches;
}

std::vector<Work> WorksOf(FrameKind kind, uint32_t frame_count) {
  std::vector<Work> works;
  for (uint32_t frame = 0; frame < frame_count; ++frame) {
    for (uint32_t list = 0; list < Frame(kind).size(); ++list) {
      for (const PassPlan& pass : Frame(kind)[list].passes) {
        for (const WorkPlan& plan : pass.works) {
          for (uint32_t i = 1; i <= plan.count; ++i) {
            works.push_back({frame, list, pass.name, plan.label, plan.type, i});
          }
        }
      }
    }
  }
  return works;
}

std::string FrameName(uint32_t frame) {
  return "Frame " + std::to_string(frame);
}

}  // namespace cairn::truth
