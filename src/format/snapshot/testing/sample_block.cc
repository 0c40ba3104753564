// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/testing/sample_block.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "cairn/marker_types.h"

#include "format/block/object_description.h"
#include "format/block/work_arguments.h"
#include "format/snapshot/object_kinds.h"

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

namespace {

constexpr uint64_t kMillisecond = 1'000'000;

// Kinds, as D3D12_DRED_ALLOCATION_TYPE counts them.
constexpr uint32_t kCommandQueueKind = 19;
constexpr uint32_t kFenceKind = 23;
constexpr uint32_t kResourceKind = 34;

// The refs of what the lists bind.
struct SampleObjects {
  uint32_t target;
  uint32_t particles;
};

SampleObjects AddSampleObjects(TestBlock* block, uint32_t context) {
  SampleObjects objects;
  block->AddObject(context, kCommandQueueKind, "Graphics", 2 * kMillisecond);
  objects.target = block->AddObject(context, kResourceKind, "Scene colour", 3 * kMillisecond);
  objects.particles =
      block->AddObject(context, kResourceKind, "Particles", 4 * kMillisecond, 20 * kMillisecond);
  ObjectRecord& particles = block->object(objects.particles - 1);
  particles.gpu_address = 0x7000'0000;
  particles.size_bytes = 0x1'0000;
  block->AddObject(context, kResourceKind, "", 5 * kMillisecond);
  ObjectRecord& fence =
      block->object(block->AddObject(context, kFenceKind, "Frame fence", 6 * kMillisecond) - 1);
  fence.signalled = 2;
  fence.waited = 3;
  fence.completed = 1;
  return objects;
}

void AddSampleCalls(TestBlock* block) {
  const uint32_t loader = block->AddThread(17, "loader");
  block->Call(loader, "ID3D12Device::CreateCommittedResource", 0, true);
  const uint32_t render = block->AddThread(16, "render");
  block->Call(render, "ID3D12CommandQueue::ExecuteCommandLists", 0x5000, true);
  block->Call(render, "ID3D12CommandQueue::Signal", 0x5000, true);
  block->Call(render, "ID3D12Fence::SetEventOnCompletion", 0x5004, false);
}

}  // namespace

void FillD3D12Block(TestBlock* block) {
  const uint32_t context = block->AddContext(16);
  ContextRecord& device = block->context(context);
  device.api = Api::kD3D12;
  device.method = WriteMethod::kD3D12WriteBufferImmediate;
  device.annotation_driver = block->AddName("breadcrumb");
  device.annotations_forced = 1;
  device.application = block->AddName("Demo on SampleEngine 3");
  const uint32_t queue = block->AddQueue(context, 0, "Graphics");
  block->queue(queue).native_handle = 0x5000;
  const uint32_t pipeline = block->AddPipeline(context, "Particle pipeline");
  block->SetShader(pipeline, kStageVertex, "ParticleVS");
  block->SetShader(pipeline, kStagePixel, "ParticlePS");
  const SampleObjects objects = AddSampleObjects(block, context);

  const TestBlock::List list = block->AddList(context, queue, 3, "Main");
  const uint64_t opaque_id = block->KeepMarker(1, MarkerKind::kBeginEvent, "Opaque");
  const uint32_t opaque = block->Annotate(list, CAIRN_MARKER_PASS, opaque_id, "Opaque");
  block->BindObject(list, BindPoint::kRenderTarget, 0, objects.target);
  block->Scope(list, CAIRN_MARKER_DRAW_INSTANCED, "", pipeline);
  block->End(list, opaque);
  const uint64_t particles_id =
      block->KeepMarker(1, MarkerKind::kBeginEvent, "Particles of level 3");
  const uint32_t particles =
      block->Annotate(list, CAIRN_MARKER_PASS, particles_id, "Particles of level 3");
  block->BindAddress(list, BindPoint::kVertexBuffer, 0, 0x7000'0040);
  block->BindAddress(list, BindPoint::kRootConstantBuffer, 1, 0xDEAD'0000);
  const uint32_t draw = block->Begin(list, CAIRN_MARKER_DRAW_INSTANCED, "", pipeline);
  block->End(list, draw);
  block->End(list, particles);
  block->Close(list);
  block->Submit(queue, list);
  block->submission(1).time_ns = 23 * kMillisecond;
  block->SetProgress(list, draw, opaque + 4);

  AddSampleCalls(block);
  block->KeepMarker(2, MarkerKind::kBeginEvent, "Level 3", true, 0x5000);
  block->KeepMarker(2, MarkerKind::kBeginEvent, "Loading", true, 0x5000);
  block->KeepMarker(2, MarkerKind::kEndEvent, "", true, 0x5000);
  block->KeepMarker(2, MarkerKind::kSetMarker, "Player spawned", true, 0x5000, 1);
  block->arena(3).generation = 5;
  block->arena(3).state = 1;
  block->header().arena_count = 4;
  block->driver_report(context).event_ids[0] = MakeEventId(3, 4, 7);  // of a generation that passed
  block->driver_report(context).event_ids[1] = MakeEventId(9, 1, 1);  // of no arena
  block->driver_report(context).event_ids[5] = particles_id;
}

namespace {

constexpr uint64_t kTimelineHandle = 0xA1;
constexpr uint64_t kImageSemaphoreHandle = 0xA2;
constexpr uint64_t kFenceHandle = 0xA3;

void AddVulkanObjects(TestBlock* block, uint32_t context) {
  const auto add = [&](uint32_t kind, const char* name, uint64_t created, uint64_t destroyed,
                       uint64_t handle, uint64_t address, uint64_t size) {
    const uint32_t ref =
        block->AddObject(context, kind, name, created * kMillisecond, destroyed * kMillisecond);
    ObjectRecord& object = block->object(ref - 1);
    object.native_handle = handle;
    object.gpu_address = address;
    object.size_bytes = size;
  };
  add(kVulkanSemaphoreKind, "Frame timeline", 1, 0, kTimelineHandle, 0, 0);
  add(kVulkanSemaphoreKind, "Image acquired", 1, 0, kImageSemaphoreHandle, 0, 0);
  add(kVulkanFenceKind, "", 1, 0, kFenceHandle, 0, 0);
  add(kVulkanBufferKind, "Vertices", 2, 0, 0xB1, 0x10'0000'0000, 0x10000);
  add(kVulkanBufferKind, "Old lights", 2, 20, 0xB2, 0x10'0002'0000, 0x4000);
  add(kVulkanImageKind, "Shadow map", 2, 0, 0xB3, 0x10'0010'0000, 0x400000);
}

void AddVulkanSyncs(TestBlock* block, uint32_t graphics, uint32_t compute) {
  block->AddSync(SyncKind::kSignal, kNoQueue, 0, kImageSemaphoreHandle, 0,
                 kSyncBinary | kSyncAcquire);
  block->AddSync(SyncKind::kWait, graphics, 1, kImageSemaphoreHandle, 0, kSyncBinary);
  block->AddSync(SyncKind::kSignal, graphics, 1, kTimelineHandle, 7);
  block->AddSync(SyncKind::kSignal, graphics, 1, kFenceHandle, 0, kSyncFence);
  block->AddSync(SyncKind::kWait, compute, 1, kTimelineHandle, 7);
  block->AddSync(SyncKind::kSignal, compute, 1, kTimelineHandle, 8);
  block->AddSync(SyncKind::kWait, kNoQueue, 0, kTimelineHandle, 9);
}

void AddVulkanFault(TestBlock* block, uint32_t context) {
  block->AddFault(context, "VK_EXT_device_fault", "page fault");
  block->AddFaultAddress(context, FaultAddressType::kReadInvalid, 0x10'0002'0100, 0x1000);
  block->AddFaultAddress(context, FaultAddressType::kInstructionFault, 0x7F'0000'0040);
  block->AddVendorInfo(context, "MMU status", 3, 0xFEED);
  block->SetVendorBinary(context, std::string("\x38\x00\x00\x00vendor data", 15));
}

}  // namespace

void FillVulkanBlock(TestBlock* block) {
  const uint32_t context = block->AddContext(16);
  block->AddSource(context, "VK_EXT_device_fault", SourceState::kPresent, "");
  const uint32_t graphics = block->AddQueue(context, 0, "Graphics");
  const uint32_t compute = block->AddQueue(context, 1, "Async compute");
  const uint32_t shadow = block->AddPipeline(context, "Shadow pipeline");
  block->SetShader(shadow, kStageVertex, "main (00000000000000a1)");
  block->SetShaderHash(shadow, kStageVertex, 0xA1);
  const uint32_t cull = block->AddPipeline(context, "Cull");
  block->SetShader(cull, kStageCompute, "main (00000000000000c1)");
  block->SetShaderHash(cull, kStageCompute, 0xC1);
  block->AddShader(ShaderCode::kSpirV, 0xC1, "SPIR-V of cull");
  block->AddShader(ShaderCode::kSpirV, 0xA1, "SPIR-V of shadows");
  block->AddShader(ShaderCode::kDxbc, 0xD1, "");

  const TestBlock::List secondary =
      block->AddList(context, kNoQueue, 0, "Shadow casters", kRecordingSecondary);
  block->Scope(secondary, CAIRN_MARKER_DRAW_INDEXED, "", shadow);  // 1, 2
  block->Scope(secondary, CAIRN_MARKER_DRAW_INDEXED, "", shadow);  // 3, 4
  block->Close(secondary);
  const TestBlock::List main = block->AddList(context, graphics, 0, "Main");
  const uint32_t pass = block->Begin(main, CAIRN_MARKER_PASS, "Shadows");
  const uint32_t execute = block->Begin(main, CAIRN_MARKER_EXECUTE_COMMANDS);
  block->ExecuteSecondary(main, secondary);
  block->End(main, execute);
  block->End(main, pass);
  block->Close(main);
  block->Submit(graphics, main);
  block->SetProgress(main, execute, 0);
  block->SetProgress(secondary, 3, 2);
  const TestBlock::List culling = block->AddList(context, compute, 0, "Culling");
  block->Scope(culling, CAIRN_MARKER_DISPATCH, "", cull);
  block->Close(culling);
  block->Submit(compute, culling);

  AddVulkanObjects(block, context);
  AddVulkanSyncs(block, graphics, compute);
  AddVulkanFault(block, context);
  block->AddCheckpoint(graphics, PipeStage::kTop, secondary, 3);
  block->AddCheckpoint(graphics, PipeStage::kBottom, secondary, 2);
  block->context(context).device_lost_code = -4;
  block->context(context).device_lost_where = block->AddName("vkQueueSubmit");
  block->context(context).device_lost = 1;
}

void FillMemoryBlock(TestBlock* block) {
  const uint32_t context = block->AddContext(16);
  const uint32_t queue = block->AddQueue(context, 0, "Graphics");
  const uint32_t pipeline = block->AddPipeline(context, "Simulate");
  const uint32_t particles =
      block->AddObject(context, kVulkanBufferKind, "Particles", kMillisecond, 4 * kMillisecond);
  const uint32_t heap =
      block->AddObject(context, kVulkanMemoryKind, "Heap A", kMillisecond, 5 * kMillisecond);
  block->context(context).frame = 3;
  // Before the descriptors were written: another buffer with the same handle.
  block->AddDestruction(context, kVulkanBufferKind, 0xB1, 0, "main");
  const TestBlock::TestDescriptor descriptors[] = {
      {0, DescriptorKind::kBuffer, 0xB0, 1},
      {2, DescriptorKind::kBuffer, 0, 0},
      {2, DescriptorKind::kBuffer, 0xB1, 1},
      {3, DescriptorKind::kImageView, 0xC1, 1},
  };
  const DescriptorSetPlace set = block->AddDescriptorSet(context, 0xD1, descriptors, 1024);
  const TestBlock::List list = block->AddList(context, queue, 3, "Main");
  block->BindAddress(list, BindPoint::kDescriptorSet, kBindSlotOfCompute | 1, set);
  const uint32_t dispatch = block->Begin(list, CAIRN_MARKER_DISPATCH, "", pipeline);
  block->End(list, dispatch);
  block->Close(list);
  block->Submit(queue, list);
  block->SetProgress(list, dispatch, 0);
  block->AddDestruction(context, kVulkanBufferKind, 0xB1, particles, "streaming");
  block->destruction(2).time_ns = 4 * kMillisecond;
  block->AddDestruction(context, kVulkanImageViewKind, 0xC1, 0, "streaming");
  DestructionRecord& view = block->destruction(3);
  view.time_ns = 5 * kMillisecond;
  view.cause_kind = kVulkanMemoryKind;
  view.cause_handle = 0xE1;
  view.cause_object = heap;
  view.cause_object_serial = block->object(heap - 1).serial;
}

void FillArgumentsBlock(TestBlock* block) {
  const uint32_t context = block->AddContext();
  const uint32_t queue = block->AddQueue(context, 0, "Graphics");
  const uint32_t plain = block->AddPipeline(context, "Plain");
  const uint32_t march = block->AddPipeline(context, "March");
  // The header, then OpCapability, or OpLoopMerge.
  constexpr uint32_t kPlain[] = {0x07230203, 0x10000, 0, 8, 0, 2 << 16 | 17, 1};
  constexpr uint32_t kMarch[] = {0x07230203, 0x10000, 0, 8, 0, 4 << 16 | 246, 1, 2, 0};
  block->AddShader(ShaderCode::kSpirV, 0x11,
                   {reinterpret_cast<const char*>(kPlain), sizeof(kPlain)});
  block->AddShader(ShaderCode::kSpirV, 0x12,
                   {reinterpret_cast<const char*>(kMarch), sizeof(kMarch)});
  block->SetShaderHash(plain, kStagePixel, 0x11);
  block->SetShaderHash(march, kStagePixel, 0x12);
  const uint32_t arguments = block->AddObject(context, kVulkanObject | 9, "Draws", 500);

  const TestBlock::List list = block->AddList(context, queue, 1, "Main");
  const auto note = [&](const ArgumentNumbers& numbers) {
    if (numbers.point == ArgumentsPoint::kNone) return;
    block->BindAddress(list, static_cast<BindPoint>(numbers.point), numbers.first, numbers.rest);
  };
  const auto work = [&](uint16_t type, uint32_t pipeline, const WorkArguments& of_work) {
    const uint32_t begin = block->Begin(list, type, {}, pipeline);
    note(of_work.main);
    note(of_work.more);
    block->End(list, begin);
  };
  const auto draw_in_pass = [&](uint32_t pipeline, const WorkArguments& of_work) {
    const uint32_t begin = block->Begin(list, CAIRN_MARKER_DRAW_INDEXED, {}, pipeline, 0);
    note(of_work.main);
    note(of_work.more);
    block->End(list, begin, 0);
  };
  work(CAIRN_MARKER_DISPATCH, 0, GroupArguments(300, 1, 1));
  block->Scope(list, CAIRN_MARKER_BEGIN_RENDERING);
  draw_in_pass(plain, IndexedDrawArguments(36, 1, 6, -4, 2));
  draw_in_pass(march, IndexedDrawArguments(3, 1, 0, 0, 0));
  draw_in_pass(plain, IndexedDrawArguments(36, 20, 0, 0, 0));
  block->Scope(list, CAIRN_MARKER_END_RENDERING);
  block->BindObject(list, BindPoint::kIndirectArguments, 0, arguments);
  work(CAIRN_MARKER_DRAW_INDIRECT, plain, IndirectArguments(2, 64, 16));
  block->BindObject(list, BindPoint::kDestination, 0, arguments);
  work(CAIRN_MARKER_UPDATE_BUFFER, 0, ByteArguments(1, 16));
  block->Close(list);
  block->Submit(queue, list);
  block->SetProgress(list, 4, 5);
}

void FillDurationsBlock(TestBlock* block) {
  const uint32_t context = block->AddContext();
  const uint32_t queue = block->AddQueue(context, 0, "Graphics");
  const uint32_t pipeline = block->AddPipeline(context, "Simulate");
  for (int i = 0; i < 2; ++i) {
    const TestBlock::List list = block->AddList(context, queue, 1, "Main");
    const uint32_t dispatch = block->Scope(list, CAIRN_MARKER_DISPATCH, {}, pipeline);
    block->Close(list);
    const uint64_t number = block->Submit(queue, list);
    block->submission(number).pipelines = 2;
    block->SetProgress(list, dispatch, i == 0 ? dispatch + 1 : 0);
  }
  block->submission(1).ended_ns = block->submission(1).time_ns + 200'000;
  block->queue(queue).completed_submission = 1;

  const auto add = [&](uint32_t kind, const ObjectDescription& description) -> ObjectRecord& {
    ObjectRecord& object = block->object(block->AddObject(context, kind, "", kMillisecond) - 1);
    object.description = PackDescription(description);
    return object;
  };
  ObjectDescription buffer;
  buffer.shape = ObjectShape::kBuffer;
  buffer.uses = kUsedAsVertices | kUsedAsIndices;
  add(kVulkanBufferKind, buffer).size_bytes = 65536;
  ObjectDescription image;
  image.shape = ObjectShape::kTexture2D;
  image.vulkan_format = true;
  image.format = 97;  // VK_FORMAT_R16G16B16A16_SFLOAT
  image.width = 1920;
  image.height = 1080;
  image.layers = 1;
  add(kVulkanObject | 10, image);

  MemoryRecord& memory = reinterpret_cast<MemoryRecord*>(block->bytes().data() +
                                                         block->header().memory_offset)[context];
  memory.result = -2;
  memory.failed_ns = 2 * kMillisecond;
  memory.failed_count = 3;
  memory.wanted_bytes = 1 << 30;
  memory.asked_ns = 2 * kMillisecond;
  memory.heap_count = 2;
  std::strcpy(memory.function, "vkAllocateMemory");
  memory.heaps[0] = {uint64_t{8} << 30, uint64_t{15} << 29, uint64_t{15} << 29,
                     kHeapDeviceLocal | kHeapTellsUse, 0};
  memory.heaps[1] = {uint64_t{16} << 30, 0, 0, 0, 0};
  memory.state = kEntryPublished;
}

void FillUserDataBlock(TestBlock* block) {
  FillDurationsBlock(block);
  block->AddUserData(0, "level", "e1m1");
  block->AddUserData(2, "save.bin", std::string("\x01\x00\xff", 3) + std::string(5000, 's'));
  block->AddUserData(3, "a/../b", "");
  block->AddUserData(63, "settings.json", "{\"shadows\": true}\n");
}

void FillLargeBlock(TestBlock* block, uint32_t scope_count) {
  const uint32_t context = block->AddContext();
  const uint32_t queue = block->AddQueue(context, 0, "Graphics");
  const uint32_t pipeline = block->AddPipeline(context, "Basic pipeline");
  block->SetShader(pipeline, kStageVertex, "BasicVS");
  block->SetShader(pipeline, kStagePixel, "BasicPS");
  constexpr uint32_t kDrawsPerPass = 99;
  constexpr uint32_t kScopesPerList = 1'000'000;
  const uint32_t list_count = (scope_count + kScopesPerList - 1) / kScopesPerList;
  for (uint32_t i = 0, made = 0; i < list_count; ++i) {
    const TestBlock::List list = block->AddList(context, queue, 0, "Main");
    const uint32_t first = made;
    const uint32_t end = std::min(scope_count, made + kScopesPerList);
    while (made < end) {
      const uint32_t pass = block->Begin(list, CAIRN_MARKER_PASS, "Pass " + std::to_string(made));
      ++made;
      for (uint32_t draw = 0; draw < kDrawsPerPass && made < end; ++draw, ++made) {
        // Every other draw has a name of its own.
        const std::string name =
            draw % 2 == 0 ? "" : "Object " + std::to_string(made * 7919 % 100003);
        block->Scope(list, CAIRN_MARKER_DRAW_INDEXED, name, pipeline);
      }
      block->End(list, pass);
    }
    block->Close(list);
    block->Submit(queue, list);
    // In a draw of the middle pass of the middle list: an odd number behind the pass's own begin.
    const uint32_t middle = (end - first) / 200 * 200 + 8;
    const uint32_t all = 2 * (end - first);
    if (i < list_count / 2) block->SetProgress(list, all - 2, all);
    if (i == list_count / 2) block->SetProgress(list, middle, middle - 1);
  }
}

}  // namespace cairn
