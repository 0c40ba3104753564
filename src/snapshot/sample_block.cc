// SPDX-License-Identifier: Apache-2.0
#include "snapshot/sample_block.h"

#include <string>

#include "cairn/marker_types.h"

namespace cairn {

void FillSampleBlock(TestBlock* block) {
  const uint32_t context = block->AddContext(16, 8);
  block->context(context).frame = 1;
  block->context(context).device_notes = block->AddName("a fault surfaces up to one dispatch late");
  block->AddSource(context, "VK_AMD_buffer_marker", SourceState::kPresent, "verified");
  block->AddSource(context, "VK_EXT_device_fault", SourceState::kAbsent,
                   "not enabled by the application");
  block->AddSource(context, "vkCmdFillBuffer", SourceState::kSilent, "writes nothing");
  const uint32_t direct = block->AddQueue(context, 0, "Graphics");
  const uint32_t compute = block->AddQueue(context, 1, "");
  const uint32_t basic = block->AddPipeline(context, "Basic pipeline");
  block->SetShader(basic, kStageVertex, "EndlessLoopVS");
  block->SetShader(basic, kStagePixel, "SolidColorPS");
  const uint32_t blur = block->AddPipeline(context, "");
  block->SetShader(blur, kStageCompute, "BlurCS");

  const TestBlock::List done = block->AddList(context, direct, 0, "Main");
  block->Scope(done, CAIRN_MARKER_CLEAR_RENDER_TARGET, "Reset contents");
  block->Close(done);
  block->Submit(direct, done);
  block->SetProgress(done, 1, 2);

  const TestBlock::List main = block->AddList(context, direct, 1, "Main");
  const uint32_t frame = block->Begin(main, CAIRN_MARKER_PASS, "Frame");
  const uint32_t opaque = block->Begin(main, CAIRN_MARKER_PASS, "Opaque");
  block->Scope(main, CAIRN_MARKER_DRAW_INDEXED, "", basic);
  block->Scope(main, CAIRN_MARKER_DRAW_INDEXED, "", basic);
  block->End(main, opaque);
  block->Scope(main, CAIRN_MARKER_DISPATCH, "Blur", blur);
  block->Scope(main, CAIRN_MARKER_DISPATCH, "", blur);
  block->End(main, frame);
  block->Close(main);
  block->Submit(direct, main);
  block->SetProgress(main, 8, 7);

  const TestBlock::List reused = block->AddList(context, compute, 1, "Culling", kRecordingReusable);
  block->Scope(reused, CAIRN_MARKER_DISPATCH, "Cull");
  block->Close(reused);
  block->Submit(compute, reused);
  block->Submit(compute, reused);
  block->words(reused).runs = 2;
  block->SetProgress(reused, 1, 2);

  const TestBlock::List open = block->AddList(context, kNoQueue, 1, "\x1b[31mevil\n\xff");
  block->Begin(open, CAIRN_MARKER_PASS, "left open");
  block->Begin(open, 200, "");

  block->raw_markers(context)[0] = 1;
  block->raw_markers(context)[3] = 0xFFFFFFFFFFFFFFFF;
  block->context(context).device_lost_code = -4;
  block->context(context).device_lost_where = block->AddName("vkQueueSubmit");
  block->context(context).device_lost = 1;
}

void FillLargeBlock(TestBlock* block, uint32_t scope_count) {
  const uint32_t context = block->AddContext();
  const uint32_t queue = block->AddQueue(context, 0, "Graphics");
  const uint32_t pipeline = block->AddPipeline(context, "Basic pipeline");
  block->SetShader(pipeline, kStageVertex, "BasicVS");
  block->SetShader(pipeline, kStagePixel, "BasicPS");
  const TestBlock::List list = block->AddList(context, queue, 0, "Main");
  constexpr uint32_t kDrawsPerPass = 99;
  for (uint32_t made = 0; made < scope_count;) {
    const uint32_t pass = block->Begin(list, CAIRN_MARKER_PASS, "Pass " + std::to_string(made));
    ++made;
    for (uint32_t i = 0; i < kDrawsPerPass && made < scope_count; ++i, ++made) {
      // Every other draw has a name of its own.
      const std::string name = i % 2 == 0 ? "" : "Object " + std::to_string(made * 7919 % 100003);
      block->Scope(list, CAIRN_MARKER_DRAW_INDEXED, name, pipeline);
    }
    block->End(list, pass);
  }
  block->Close(list);
  block->Submit(queue, list);
  // In a draw of the middle pass: an odd number behind the pass's own begin.
  const uint32_t middle = scope_count / 200 * 200 + 8;
  block->SetProgress(list, middle, middle - 1);
}

}  // namespace cairn
