// SPDX-License-Identifier: Apache-2.0
//
// Answers of `cairn why` for tests of its texts.
#ifndef CAIRN_READER_VIEW_TESTING_WHY_ANSWERS_H_
#define CAIRN_READER_VIEW_TESTING_WHY_ANSWERS_H_

#include <bit>
#include <cstdint>

#include "format/block/block.h"
#include "reader/view/why_text.h"

namespace cairn::cli {

// A loop in line 41 that does not end.
inline WhyTold LoopFound() {
  WhyTold told;
  told.program = "./fog";
  told.duration_ns = 61'200'000'000;
  WhyFound& found = told.found;
  found.unchanged = {3, 3, 0, 0};
  found.kind = FailureKind::kHang;
  found.layers_seen = true;
  found.runs = 16;
  WhyResult loops;
  loops.verdict = WhyVerdict::kProven;
  loops.with = {4, 0, 0, 0};
  loops.without = {1, 1, 0, 0};
  loops.loops.limited = {.change = Change::kLimitLoops, .trips = 65536, .shaders = {0xa1}};
  loops.loops.control = {1, 1, 0, 0};
  loops.loops.longer = {1, 0, 0, 0};
  loops.loops.longer_trips = 1'048'576;
  LoopNote loop;
  loop.shader = 0xa1;
  loop.index = 1;
  loop.function = "march";
  loop.file = "fog.frag";
  loop.line = 41;
  loop.text = "  for (float i = 0.5; i < 3.0; i += step)";
  loop.excerpt = {
      "vec4 march(vec3 at) {\n  float sum = 0.0;\n\n  for (float i = 0.5; i < 3.0; i += step)\n"
      "\tsum += fog(at * i);\n  return vec4(sum);\n}",
      38, 3};
  loop.left = "i";
  loop.comparison = "<";
  loop.right = "3.0";
  loop.is_float = true;
  loop.invocations = InvocationKind::kFragment;
  loop.record = {.executions = 20'000, .most_trips = 65536, .cuts = 19'200, .first = 1};
  loop.record.invocation[0] = 12;
  loop.record.invocation[1] = 40;
  loop.record.left = std::bit_cast<uint32_t>(0.5f);
  loop.record.right = std::bit_cast<uint32_t>(3.0f);
  loops.loops.cut = loops.loops.alone = {loop};
  WhyResult barrier;
  barrier.name = ExperimentName::kBarrierBefore;
  barrier.verdict = WhyVerdict::kFails;
  barrier.with = {1, 1, 0, 0};
  WhyResult alive;
  alive.name = ExperimentName::kKeepAlive;
  alive.verdict = WhyVerdict::kFailsOtherwise;
  alive.with = {1, 0, 1, 0};
  alive.other_kind = FailureKind::kLost;
  found.results = {loops, barrier, alive};
  found.causes = {0};
  return told;
}

// A store in line 43 that misses its buffer.
inline WhyTold AccessFound() {
  WhyTold told = LoopFound();
  WhyResult& bounds = told.found.results[0];
  bounds = {.name = ExperimentName::kBounds, .verdict = WhyVerdict::kProven};
  bounds.with = {4, 0, 0, 0};
  bounds.without = {1, 1, 0, 0};
  bounds.accesses.checked = {.change = Change::kCheckBounds, .shaders = {0xa1}};
  AccessNote access;
  access.shader = 0xa1;
  access.index = 4;
  access.function = "main";
  access.file = "fill.comp";
  access.line = 43;
  access.text = "data.word[at + offset] = at * 3;";
  access.kind = AccessKind::kStore;
  access.bytes = 4;
  access.pointer = "data";
  access.invocations = InvocationKind::kGlobal;
  access.record = {
      .misses = 1, .first = 1, .has_range = 1, .bytes = 4, .invocation = {63, 0, 0, 0}};
  access.record.address = 0x7f0000001140;
  access.record.range = {0x7f0000001000, 256};
  bounds.accesses.missed = {access};
  return told;
}

// The same store, into a buffer of an array, by two indices.
inline WhyTold IndexFound() {
  WhyTold told = AccessFound();
  AccessNote& access = told.found.results[0].accesses.missed[0];
  access.by_descriptor = true;
  access.bytes = 0;
  access.pointer = "bins";
  access.binding = 2;
  access.indices[0] = {IndexKind::kDescriptor, false};
  access.indices[1] = {IndexKind::kElement, true};
  access.record = {.misses = 3, .first = 1, .invocation = {7, 0, 0, 0}};
  SetIndexMiss({{9, static_cast<uint32_t>(-1), 0, 0}, {4, 64, 1, 1}}, &access.record);
  return told;
}

// The same in a shader that an implementation of Direct3D has translated.
inline WhyTold TranslatedLoopFound() {
  WhyTold told = LoopFound();
  told.pipelines[0xd1] = "Fog";
  WhyResult& loops = told.found.results[0];
  LoopNote& loop = loops.loops.cut[0];
  loop.translated = 0xd1;
  loop.stage = kStagePixel;
  loop.count = 3;
  loop.function = "main";
  loop.file = loop.text = "";
  loop.line = 0;
  loop.excerpt = {"%41 = OpLabel\nOpLoopMerge %42 %43 None\nOpBranch %44", 0, 1};
  loops.loops.alone = loops.loops.cut;
  return told;
}

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_TESTING_WHY_ANSWERS_H_
