// SPDX-License-Identifier: Apache-2.0
//
// A program written for FidelityFX Breadcrumbs, recompiled: with its custom backend it runs on a GPU
// that the test steps through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cairn/compat/ffx_breadcrumbs.h"
#include "cairn/compat/ffx_dx12.h"
#include "cairn/compat/ffx_vk.h"

#include "app/api/compat_ffx_marker_types.h"
#include "format/snapshot/marker_type_name.h"

namespace cairn {
namespace {

using testing::HasSubstr;
using testing::Not;

std::atomic<int> live_allocations{0};
std::atomic<int> total_allocations{0};

void* CountedAlloc(size_t size) {
  ++live_allocations;
  ++total_allocations;
  return std::malloc(size);
}
void* CountedRealloc(void* memory, size_t size) {
  if (memory == nullptr) return CountedAlloc(size);
  return std::realloc(memory, size);
}
void CountedFree(void* memory) {
  if (memory != nullptr) --live_allocations;
  std::free(memory);
}

// A command list is the writes recorded into it; the test executes them.
struct List {
  struct Write {
    uint64_t location;
    uint32_t value;
    bool is_begin;
  };
  std::vector<Write> writes;
  size_t executed = 0;
};

// A GPU of the application's own, as the original's interface asks for one.
class Gpu {
 public:
  static constexpr uint64_t kBaseAddress = 0x10000;

  FfxInterface Interface() {
    FfxInterface interface {};
    interface.fpCreateBackendContext = [](FfxInterface* self, FfxEffect effect,
                                          FfxEffectBindlessConfig* config, FfxUInt32* id) {
      EXPECT_EQ(FFX_EFFECT_BREADCRUMBS, effect);
      EXPECT_EQ(nullptr, config);
      *id = 7;
      ++Of(self).contexts_created;
      return FFX_OK;
    };
    interface.fpDestroyBackendContext = [](FfxInterface* self, FfxUInt32 id) {
      EXPECT_EQ(7u, id);
      ++Of(self).contexts_destroyed;
      return FFX_OK;
    };
    interface.fpBreadcrumbsAllocBlock = AllocBlock;
    interface.fpBreadcrumbsFreeBlock = [](FfxInterface* self, FfxBreadcrumbsBlockData* block) {
      EXPECT_EQ(&Of(self), block->heap);
      Of(self).memory_.clear();
    };
    interface.fpBreadcrumbsWrite = [](FfxInterface*, FfxCommandList list, uint32_t value,
                                      uint64_t location, void* buffer, bool is_begin) {
      EXPECT_EQ(&kBuffer, buffer);
      static_cast<List*>(list)->writes.push_back({location, value, is_begin});
    };
    interface.fpBreadcrumbsPrintDeviceInfo = [](FfxInterface*, FfxAllocationCallbacks* allocs, bool,
                                                char** text, size_t* size) {
      constexpr char kInfo[] = "Stepping GPU";
      *text = static_cast<char*>(allocs->fpRealloc(*text, *size + sizeof(kInfo) - 1));
      std::memcpy(*text + *size, kInfo, sizeof(kInfo) - 1);
      *size += sizeof(kInfo) - 1;
    };
    interface.device = this;
    return interface;
  }

  // The next `count` writes reach memory.
  void Execute(List& list, size_t count = SIZE_MAX) {
    for (; count != 0 && list.executed < list.writes.size(); --count, ++list.executed) {
      const List::Write& write = list.writes[list.executed];
      ASSERT_GE(write.location, kBaseAddress);
      ASSERT_LE(write.location + sizeof(uint32_t), kBaseAddress + memory_.size() * 8);
      std::byte* bytes = reinterpret_cast<std::byte*>(memory_.data());
      auto* word = reinterpret_cast<uint32_t*>(bytes + (write.location - kBaseAddress));
      std::atomic_ref<uint32_t>(*word).store(write.value);
    }
  }

  bool fail_allocation = false;
  int contexts_created = 0;
  int contexts_destroyed = 0;
  bool has_block() const { return !memory_.empty(); }

 private:
  static inline int kBuffer = 0;  // only its address counts

  static Gpu& Of(FfxInterface* interface) { return *static_cast<Gpu*>(interface->device); }
  static FfxErrorCode AllocBlock(FfxInterface* self, uint64_t bytes,
                                 FfxBreadcrumbsBlockData* block) {
    if (Of(self).fail_allocation) return FFX_ERROR_OUT_OF_MEMORY;
    Of(self).memory_.resize((bytes + 7) / 8);
    *block = {Of(self).memory_.data(), &Of(self), &kBuffer, kBaseAddress, 0};
    return FFX_OK;
  }

  std::vector<uint64_t> memory_;
};

class FfxBreadcrumbsTest : public testing::Test {
 protected:
  FfxBreadcrumbsContextDescription Description(uint32_t flags = 0) {
    FfxBreadcrumbsContextDescription desc{};
    desc.flags = flags | FFX_BREADCRUMBS_PRINT_SKIP_DEVICE_INFO;
    desc.frameHistoryLength = 2;
    desc.maxMarkersPerMemoryBlock = 4;
    desc.usedGpuQueuesCount = 1;
    desc.pUsedGpuQueues = &queue_;
    desc.allocCallbacks = {CountedAlloc, CountedRealloc, CountedFree};
    desc.backendInterface = gpu_.Interface();
    return desc;
  }
  void Create(uint32_t flags = 0) {
    const FfxBreadcrumbsContextDescription desc = Description(flags);
    ASSERT_EQ(FFX_OK, ffxBreadcrumbsContextCreate(&context_, &desc)) << cairnGetLastErrorMessage();
    created_ = true;
  }
  void TearDown() override {
    if (created_) {
      EXPECT_EQ(FFX_OK, ffxBreadcrumbsContextDestroy(&context_));
    }
  }

  FfxErrorCode Register(List& list, const char* name, FfxPipeline pipeline = nullptr) {
    FfxBreadcrumbsCommandListDescription desc{};
    desc.commandList = &list;
    desc.name = {name, true};
    desc.pipeline = pipeline;
    return ffxBreadcrumbsRegisterCommandList(&context_, &desc);
  }
  FfxErrorCode Begin(List& list, FfxBreadcrumbsMarkerType type, const char* name = nullptr,
                     bool externally_owned = true) {
    const FfxBreadcrumbsNameTag tag{name, externally_owned};
    return ffxBreadcrumbsBeginMarker(&context_, &list, type, &tag);
  }
  FfxErrorCode End(List& list) { return ffxBreadcrumbsEndMarker(&context_, &list); }

  std::string Print() {
    FfxBreadcrumbsMarkersStatus status{};
    EXPECT_EQ(FFX_OK, ffxBreadcrumbsPrintStatus(&context_, &status)) << cairnGetLastErrorMessage();
    const std::string text(status.pBuffer, status.bufferSize);
    EXPECT_EQ(std::strlen(status.pBuffer), status.bufferSize);
    CountedFree(status.pBuffer);
    return text;
  }
  // From the first frame to the end of the tree.
  std::string PrintTree() {
    std::string text = Print();
    const size_t begin = text.find("<Frame");
    if (begin == std::string::npos) return text;
    text.erase(0, begin);
    const size_t end = text.find("\n\n");
    if (end != std::string::npos) text.resize(end + 1);
    return text;
  }

  uint32_t queue_ = 0;
  Gpu gpu_;
  FfxBreadcrumbsContext context_{};
  bool created_ = false;
};

// The program of the original's documentation: two pipelines, a pass around draws, draws and a clear
// without a pipeline; the second draw of the pass never finishes.
TEST_F(FfxBreadcrumbsTest, ThePublishedSampleProgram) {
  int pipeline_1 = 0;
  int pipeline_2 = 0;
  Create();

  FfxBreadcrumbsPipelineStateDescription pipeline{};
  pipeline.pipeline = &pipeline_1;
  pipeline.name = {"Phong pipeline", true};
  pipeline.vertexShader = {"PhongVS", true};
  pipeline.pixelShader = {"PhongPS", true};
  ASSERT_EQ(FFX_OK, ffxBreadcrumbsRegisterPipeline(&context_, &pipeline));
  {
    const std::string shader_name = "Toon";
    const std::string vertex_shader = shader_name + "VS";
    pipeline = {};
    pipeline.pipeline = &pipeline_2;
    pipeline.vertexShader = {vertex_shader.c_str(), false};
    ASSERT_EQ(FFX_OK, ffxBreadcrumbsRegisterPipeline(&context_, &pipeline));
  }

  ASSERT_EQ(FFX_OK, ffxBreadcrumbsStartFrame(&context_));
  List list;
  ASSERT_EQ(FFX_OK, Register(list, "Test list", &pipeline_1));
  ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_PASS, "Main Rendering"));
  ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_DRAW_INSTANCED));
  ASSERT_EQ(FFX_OK, End(list));
  const size_t writes_before_the_hang = list.writes.size() + 1;
  ASSERT_EQ(FFX_OK, ffxBreadcrumbsSetPipeline(&context_, &list, &pipeline_2));
  ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_DRAW_INDEXED_INSTANCED, "Draw the teapot"));
  ASSERT_EQ(FFX_OK, End(list));
  ASSERT_EQ(FFX_OK, ffxBreadcrumbsSetPipeline(&context_, &list, nullptr));
  ASSERT_EQ(FFX_OK, End(list));
  ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_CLEAR_RENDER_TARGET));
  ASSERT_EQ(FFX_OK, End(list));

  const FfxCommandList lists[] = {&list};
  ASSERT_EQ(FFX_OK, cairnFfxNotifySubmit(&context_, queue_, lists, 1));
  gpu_.Execute(list, writes_before_the_hang);

  EXPECT_EQ(Print(), R"([BREADCRUMBS]
<Frame 0>
 - [>] Queue type <0>, submission no. 0, command list 1: "Test list"
    ├─[>] Main Rendering, graphics pipeline "Phong pipeline" [ VS: PhongVS | PS: PhongPS ]
    │  ├─[X] DRAW_INSTANCED, graphics pipeline "Phong pipeline" [ VS: PhongVS | PS: PhongPS ]
    │  └─[>] DRAW_INDEXED_INSTANCED: "Draw the teapot", graphics pipeline [ VS: ToonVS ]
    └─[ ] CLEAR_RENDER_TARGET
)");
}

// The example output of the original's documentation.
TEST_F(FfxBreadcrumbsTest, TheOutputOfTheDocumentation) {
  FfxBreadcrumbsContextDescription desc =
      Description(FFX_BREADCRUMBS_PRINT_NOT_STARTED_LISTS | FFX_BREADCRUMBS_PRINT_FINISHED_NODES |
                  FFX_BREADCRUMBS_PRINT_NOT_STARTED_NODES);
  desc.frameHistoryLength = 3;
  ASSERT_EQ(FFX_OK, ffxBreadcrumbsContextCreate(&context_, &desc));
  created_ = true;
  List lists[253];
  for (int frame = 0; frame < 253; ++frame) {
    List& list = lists[frame];
    ASSERT_EQ(FFX_OK, ffxBreadcrumbsStartFrame(&context_));
    ASSERT_EQ(FFX_OK, Register(list, "VK test command list"));
    const auto mark = [&](FfxBreadcrumbsMarkerType type, const char* name) {
      ASSERT_EQ(FFX_OK, Begin(list, type, name));
      ASSERT_EQ(FFX_OK, End(list));
    };
    mark(FFX_BREADCRUMBS_MARKER_RESOURCE_BARRIER, "Backbuffer barrier to RT");
    ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_PASS, "Main Rendering"));
    mark(FFX_BREADCRUMBS_MARKER_CLEAR_RENDER_TARGET, "Reset current backbuffer contents");
    const size_t before_the_hang = list.writes.size() + 1;
    mark(FFX_BREADCRUMBS_MARKER_DRAW_INDEXED, "Draw simple triangle");
    ASSERT_EQ(FFX_OK, End(list));
    mark(FFX_BREADCRUMBS_MARKER_RESOURCE_BARRIER, "Backbuffer barrier to PRESENT");
    if (frame < 250) gpu_.Execute(list);
    if (frame == 250) gpu_.Execute(list, before_the_hang);
  }
  EXPECT_EQ(Print(), R"([BREADCRUMBS]
<Frame 250>
 - [>] Queue type <0>, submission no. 0, command list 1: "VK test command list"
    ├─[X] RESOURCE_BARRIER: "Backbuffer barrier to RT"
    ├─[>] Main Rendering
    │  ├─[X] CLEAR_RENDER_TARGET: "Reset current backbuffer contents"
    │  └─[>] DRAW_INDEXED: "Draw simple triangle"
    └─[ ] RESOURCE_BARRIER: "Backbuffer barrier to PRESENT"
<Frame 251>
 - [ ] Queue type <0>, submission no. 0, command list 1: "VK test command list"
    ├─[ ] RESOURCE_BARRIER: "Backbuffer barrier to RT"
    ├─[ ] Main Rendering
    │  ├─[ ] CLEAR_RENDER_TARGET: "Reset current backbuffer contents"
    │  └─[ ] DRAW_INDEXED: "Draw simple triangle"
    └─[ ] RESOURCE_BARRIER: "Backbuffer barrier to PRESENT"
<Frame 252>
 - [ ] Queue type <0>, submission no. 0, command list 1: "VK test command list"
    ├─[ ] RESOURCE_BARRIER: "Backbuffer barrier to RT"
    ├─[ ] Main Rendering
    │  ├─[ ] CLEAR_RENDER_TARGET: "Reset current backbuffer contents"
    │  └─[ ] DRAW_INDEXED: "Draw simple triangle"
    └─[ ] RESOURCE_BARRIER: "Backbuffer barrier to PRESENT"
)");
}

// Numbers stand at equal types that follow one another, and begin again at another level or type; types
// have all of their name.
TEST_F(FfxBreadcrumbsTest, OrdinalsOfNeighbours) {
  Create(FFX_BREADCRUMBS_PRINT_FINISHED_NODES | FFX_BREADCRUMBS_PRINT_NOT_STARTED_NODES);
  ASSERT_EQ(FFX_OK, ffxBreadcrumbsStartFrame(&context_));
  List list;
  ASSERT_EQ(FFX_OK, Register(list, nullptr));
  const auto mark = [&](FfxBreadcrumbsMarkerType type, const char* name = nullptr) {
    ASSERT_EQ(FFX_OK, Begin(list, type, name));
    ASSERT_EQ(FFX_OK, End(list));
  };
  mark(FFX_BREADCRUMBS_MARKER_DISPATCH);
  mark(FFX_BREADCRUMBS_MARKER_DISPATCH, "Blur");
  mark(FFX_BREADCRUMBS_MARKER_PIPELINE_BARRIER);
  mark(FFX_BREADCRUMBS_MARKER_DISPATCH);
  ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_PASS, "Pass"));
  mark(FFX_BREADCRUMBS_MARKER_DRAW);
  mark(FFX_BREADCRUMBS_MARKER_DRAW);
  ASSERT_EQ(FFX_OK, End(list));
  mark(FFX_BREADCRUMBS_MARKER_DRAW);
  ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_BEGIN_TRANSFORM_FEEDBACK_EXT));
  gpu_.Execute(list);
  EXPECT_EQ(PrintTree(), R"(<Frame 0>
 - [>] Queue type <0>, submission no. 0, command list 1
    ├─[X] DISPATCH 1
    ├─[X] DISPATCH 2: "Blur"
    ├─[X] PIPELINE_BARRIER
    ├─[X] DISPATCH
    ├─[X] Pass
    │  ├─[X] DRAW 1
    │  └─[X] DRAW 2
    ├─[X] DRAW
    └─[>] BEGIN_TRANSFORM_FEEDBACK_EXT
)");
}

// Lists count from 1 in each frame, and empty frames are shown; submissions are those that were told.
TEST_F(FfxBreadcrumbsTest, ListsCountPerFrame) {
  FfxBreadcrumbsContextDescription desc = Description();
  desc.frameHistoryLength = 3;
  ASSERT_EQ(FFX_OK, ffxBreadcrumbsContextCreate(&context_, &desc));
  created_ = true;
  List lists[6];
  for (int frame = 0; frame < 4; ++frame) {
    ASSERT_EQ(FFX_OK, ffxBreadcrumbsStartFrame(&context_));
    for (int i = 0; i < 2 && frame != 2; ++i) {
      FfxBreadcrumbsCommandListDescription list{};
      list.commandList = &lists[(frame * 2 + i) % 6];
      list.name = {i == 0 ? "First" : "Second", true};
      list.submissionIndex = static_cast<uint16_t>(7 + i);
      ASSERT_EQ(FFX_OK, ffxBreadcrumbsRegisterCommandList(&context_, &list));
    }
  }
  EXPECT_EQ(Print(), R"([BREADCRUMBS]
<Frame 1>
 - [ ] Queue type <0>, submission no. 7, command list 1: "First"
 - [ ] Queue type <0>, submission no. 8, command list 2: "Second"
<Frame 2>
 - No command lists
<Frame 3>
 - [ ] Queue type <0>, submission no. 7, command list 1: "First"
 - [ ] Queue type <0>, submission no. 8, command list 2: "Second"
)");
}

// Finished and not started nodes are one line each unless asked for; what is behind them is shown again.
TEST_F(FfxBreadcrumbsTest, NodesCollapse) {
  Create();
  ASSERT_EQ(FFX_OK, ffxBreadcrumbsStartFrame(&context_));
  List list;
  ASSERT_EQ(FFX_OK, Register(list, "List"));
  size_t into_the_second = 0;
  for (const char* name : {"Done", "Running", "To come"}) {
    ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_PASS, name));
    if (name[0] == 'R') into_the_second = list.writes.size() + 3;
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_DRAW));
      ASSERT_EQ(FFX_OK, End(list));
    }
    ASSERT_EQ(FFX_OK, End(list));
  }
  gpu_.Execute(list, into_the_second);
  EXPECT_EQ(PrintTree(), R"(<Frame 0>
 - [>] Queue type <0>, submission no. 0, command list 1: "List"
    ├─[X] Done
    ├─[>] Running
    │  ├─[X] DRAW 1
    │  └─[>] DRAW 2
    └─[ ] To come
)");
}

// A queueType is a place in pUsedGpuQueues, whatever stands there.
TEST_F(FfxBreadcrumbsTest, QueueTypesAreIndices) {
  uint32_t queues[] = {0, 2, 3};
  FfxBreadcrumbsContextDescription desc = Description(FFX_BREADCRUMBS_PRINT_NOT_STARTED_LISTS);
  desc.usedGpuQueuesCount = 3;
  desc.pUsedGpuQueues = queues;
  ASSERT_EQ(FFX_OK, ffxBreadcrumbsContextCreate(&context_, &desc));
  created_ = true;
  ASSERT_EQ(FFX_OK, ffxBreadcrumbsStartFrame(&context_));
  List lists[4];
  for (uint32_t i = 0; i < 4; ++i) {
    FfxBreadcrumbsCommandListDescription list{};
    list.commandList = &lists[i];
    list.queueType = i;
    EXPECT_EQ(i < 3 ? FFX_OK : FFX_ERROR_INVALID_ARGUMENT,
              ffxBreadcrumbsRegisterCommandList(&context_, &list));
  }
  EXPECT_EQ(PrintTree(), R"(<Frame 0>
 - [ ] Queue type <0>, submission no. 0, command list 1
 - [ ] Queue type <1>, submission no. 0, command list 2
 - [ ] Queue type <2>, submission no. 0, command list 3
)");
}

TEST_F(FfxBreadcrumbsTest, BeginWritesAtTheTopAndEndAtTheBottom) {
  Create();
  List list;
  ASSERT_EQ(FFX_OK, Register(list, "List"));
  ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_DISPATCH));
  ASSERT_EQ(1u, list.writes.size());
  EXPECT_TRUE(list.writes[0].is_begin);
  ASSERT_EQ(FFX_OK, End(list));
  ASSERT_EQ(2u, list.writes.size());
  EXPECT_FALSE(list.writes[1].is_begin);
  EXPECT_NE(list.writes[0].location, list.writes[1].location);
}

TEST_F(FfxBreadcrumbsTest, NamesThatAreNotExternallyOwnedAreCopied) {
  Create();
  List list;
  ASSERT_EQ(FFX_OK, Register(list, "List"));
  std::string name = "Shadows";
  ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_PASS, name.c_str(), false));
  name = "changed";
  gpu_.Execute(list);
  EXPECT_THAT(Print(), HasSubstr("[>] Shadows"));
}

// External names are read in place when the status is printed.
TEST_F(FfxBreadcrumbsTest, NamesThatAreExternallyOwnedAreNotCopied) {
  Create(FFX_BREADCRUMBS_PRINT_FINISHED_NODES);
  ASSERT_EQ(FFX_OK, ffxBreadcrumbsStartFrame(&context_));
  char list_name[] = "list";
  char name[] = "first";
  List list;
  ASSERT_EQ(FFX_OK, Register(list, list_name));
  ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_PASS, name));
  std::strcpy(name, "other");
  ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_DRAW, name));
  std::strcpy(name, "third");
  std::strcpy(list_name, "LIST");
  gpu_.Execute(list);
  EXPECT_EQ(PrintTree(), R"(<Frame 0>
 - [>] Queue type <0>, submission no. 0, command list 1: "LIST"
    └─[>] third
       └─[>] DRAW: "third"
)");
}

TEST_F(FfxBreadcrumbsTest, PipelinesThatAreNotShownNeedNoRegistration) {
  int pipeline = 0;
  Create(FFX_BREADCRUMBS_PRINT_SKIP_PIPELINE_INFO);
  ASSERT_EQ(FFX_OK, ffxBreadcrumbsStartFrame(&context_));
  List list;
  ASSERT_EQ(FFX_OK, Register(list, "List", &pipeline));
  ASSERT_EQ(FFX_OK, ffxBreadcrumbsSetPipeline(&context_, &list, &pipeline));
  ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_DRAW));
  gpu_.Execute(list);
  EXPECT_THAT(PrintTree(), HasSubstr("    └─[>] DRAW\n"));
}

TEST_F(FfxBreadcrumbsTest, AFinishedListIsExpandedOnRequest) {
  for (const uint32_t flags : {0, static_cast<int>(FFX_BREADCRUMBS_PRINT_FINISHED_LISTS)}) {
    Create(flags);
    List list;
    ASSERT_EQ(FFX_OK, Register(list, "List"));
    ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_PASS, "Opaque"));
    ASSERT_EQ(FFX_OK, End(list));
    gpu_.Execute(list);
    const std::string text = Print();
    EXPECT_THAT(text, HasSubstr("[X] Queue type <0>"));
    if (flags == 0) {
      EXPECT_THAT(text, Not(HasSubstr("Opaque")));
    } else {
      EXPECT_THAT(text, HasSubstr("[X] Opaque"));
    }
    ASSERT_EQ(FFX_OK, ffxBreadcrumbsContextDestroy(&context_));
    created_ = false;
  }
}

TEST_F(FfxBreadcrumbsTest, DeviceInfoComesFromTheBackend) {
  FfxBreadcrumbsContextDescription desc = Description();
  desc.flags = FFX_BREADCRUMBS_PRINT_EXTENDED_DEVICE_INFO;
  ASSERT_EQ(FFX_OK, ffxBreadcrumbsContextCreate(&context_, &desc));
  created_ = true;
  EXPECT_THAT(Print(), testing::StartsWith("Stepping GPU[BREADCRUMBS]\n"));
}

TEST_F(FfxBreadcrumbsTest, EverythingIsGivenBack) {
  const int before = live_allocations;
  Create();
  EXPECT_EQ(1, gpu_.contexts_created);
  EXPECT_TRUE(gpu_.has_block());
  for (int frame = 0; frame < 10; ++frame) {
    ASSERT_EQ(FFX_OK, ffxBreadcrumbsStartFrame(&context_));
    List list;
    ASSERT_EQ(FFX_OK, Register(list, "List"));
    ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_PASS, "Left open", false));
  }
  Print();
  ASSERT_EQ(FFX_OK, ffxBreadcrumbsContextDestroy(&context_));
  created_ = false;
  EXPECT_EQ(before, live_allocations);
  EXPECT_EQ(1, gpu_.contexts_destroyed);
  EXPECT_FALSE(gpu_.has_block());
}

TEST_F(FfxBreadcrumbsTest, ListsBelongToOneFrame) {
  Create();
  List list;
  ASSERT_EQ(FFX_OK, Register(list, "List"));
  EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT, Register(list, "Again"));
  EXPECT_NE(nullptr, cairnFfxGetCommandList(&context_, &list));
  ASSERT_EQ(FFX_OK, ffxBreadcrumbsStartFrame(&context_));
  EXPECT_EQ(nullptr, cairnFfxGetCommandList(&context_, &list));
  EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT, Begin(list, FFX_BREADCRUMBS_MARKER_DRAW));
  EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT, End(list));
  EXPECT_EQ(FFX_OK, Register(list, "List"));
  EXPECT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_DRAW));
}

TEST_F(FfxBreadcrumbsTest, AnEndWithoutABeginIsRefused) {
  Create();
  List list;
  ASSERT_EQ(FFX_OK, Register(list, "List"));
  EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT, End(list));
  EXPECT_TRUE(list.writes.empty());
}

TEST_F(FfxBreadcrumbsTest, WrongArgumentsGetTheDocumentedCodes) {
  Create();
  List list;
  int pipeline = 0;
  const FfxBreadcrumbsNameTag no_name{nullptr, true};
  const FfxBreadcrumbsNameTag empty_name{"", true};
  ASSERT_EQ(FFX_OK, Register(list, "List"));

  EXPECT_EQ(FFX_ERROR_INVALID_POINTER, ffxBreadcrumbsStartFrame(nullptr));
  EXPECT_EQ(FFX_ERROR_INVALID_POINTER, ffxBreadcrumbsPrintStatus(&context_, nullptr));
  EXPECT_EQ(FFX_ERROR_INVALID_POINTER, ffxBreadcrumbsRegisterCommandList(&context_, nullptr));
  EXPECT_EQ(FFX_ERROR_INVALID_POINTER, ffxBreadcrumbsRegisterPipeline(&context_, nullptr));
  EXPECT_EQ(FFX_ERROR_INVALID_POINTER,
            ffxBreadcrumbsBeginMarker(&context_, &list, FFX_BREADCRUMBS_MARKER_DRAW, nullptr));
  EXPECT_EQ(FFX_ERROR_INVALID_POINTER, ffxBreadcrumbsSetPipeline(&context_, nullptr, nullptr));
  for (const auto& name : {no_name, empty_name}) {
    EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT,
              ffxBreadcrumbsBeginMarker(&context_, &list, FFX_BREADCRUMBS_MARKER_PASS, &name));
  }
  EXPECT_EQ(
      FFX_ERROR_INVALID_ENUM,
      ffxBreadcrumbsBeginMarker(&context_, &list, CAIRN_FFX_BREADCRUMBS_MARKER_COUNT, &no_name));
  EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT, ffxBreadcrumbsSetPipeline(&context_, &list, &pipeline));

  List other;
  FfxBreadcrumbsCommandListDescription desc{};
  desc.commandList = &other;
  desc.queueType = 5;
  EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT, ffxBreadcrumbsRegisterCommandList(&context_, &desc));
  EXPECT_THAT(cairnGetLastErrorMessage(), HasSubstr("queueType 5"));
  EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT, Register(other, "Other", &pipeline));

  FfxBreadcrumbsPipelineStateDescription mixed{};
  mixed.pipeline = &pipeline;
  mixed.vertexShader = {"VS", true};
  mixed.computeShader = {"CS", true};
  EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT, ffxBreadcrumbsRegisterPipeline(&context_, &mixed));
  mixed.vertexShader = {};
  EXPECT_EQ(FFX_OK, ffxBreadcrumbsRegisterPipeline(&context_, &mixed));
  EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT, ffxBreadcrumbsRegisterPipeline(&context_, &mixed));
}

TEST_F(FfxBreadcrumbsTest, DescriptionsOutsideTheirRangeAreRefused) {
  const auto create = [this](auto change) {
    FfxBreadcrumbsContextDescription desc = Description();
    change(desc);
    return ffxBreadcrumbsContextCreate(&context_, &desc);
  };
  using Description = FfxBreadcrumbsContextDescription;
  EXPECT_EQ(FFX_ERROR_INVALID_POINTER, ffxBreadcrumbsContextCreate(&context_, nullptr));
  EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT, create([](Description& d) { d.frameHistoryLength = 0; }));
  EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT,
            create([](Description& d) { d.maxMarkersPerMemoryBlock = 0; }));
  EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT, create([](Description& d) { d.usedGpuQueuesCount = 0; }));
  EXPECT_EQ(FFX_ERROR_INVALID_POINTER, create([](Description& d) { d.pUsedGpuQueues = nullptr; }));
  EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT,
            create([](Description& d) { d.flags |= FFX_BREADCRUMBS_PRINT_EXTENDED_DEVICE_INFO; }));
  EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT,
            create([](Description& d) { d.allocCallbacks.fpFree = nullptr; }));
  EXPECT_EQ(FFX_ERROR_INCOMPLETE_INTERFACE,
            create([](Description& d) { d.backendInterface.fpBreadcrumbsWrite = nullptr; }));
  gpu_.fail_allocation = true;
  EXPECT_EQ(FFX_ERROR_OUT_OF_MEMORY, create([](Description&) {}));
  EXPECT_EQ(FFX_ERROR_INVALID_POINTER, ffxBreadcrumbsContextDestroy(&context_));
}

TEST(FfxBackends, InterfacesAreCheckedBeforeADeviceIsUsed) {
  int device = 0;
  std::vector<std::byte> scratch(ffxGetScratchMemorySizeDX12(1));
  FfxInterface interface {};
  EXPECT_EQ(FFX_ERROR_INVALID_POINTER,
            ffxGetInterfaceDX12(&interface, nullptr, scratch.data(), scratch.size(), 1));
  EXPECT_EQ(FFX_ERROR_INSUFFICIENT_MEMORY,
            ffxGetInterfaceDX12(&interface, &device, scratch.data(), scratch.size() - 1, 1));

  std::vector<std::byte> vulkan_scratch(ffxGetScratchMemorySizeVK(nullptr, 1));
  ASSERT_EQ(FFX_OK, ffxGetInterfaceVK(&interface, &device, vulkan_scratch.data(),
                                      vulkan_scratch.size(), 1));
  uint32_t queue = 0;
  FfxBreadcrumbsContextDescription desc{};
  desc.frameHistoryLength = 1;
  desc.maxMarkersPerMemoryBlock = 1;
  desc.usedGpuQueuesCount = 1;
  desc.pUsedGpuQueues = &queue;
  desc.backendInterface = interface;
  FfxBreadcrumbsContext context{};
  EXPECT_EQ(FFX_ERROR_INCOMPLETE_INTERFACE, ffxBreadcrumbsContextCreate(&context, &desc));
  EXPECT_THAT(cairnGetLastErrorMessage(), HasSubstr("cairnFfxSetVulkan"));

  CairnVulkanDesc vulkan{};
  EXPECT_EQ(FFX_ERROR_INVALID_ARGUMENT, cairnFfxSetVulkan(&interface, &vulkan));
  EXPECT_EQ(FFX_ERROR_INVALID_POINTER, cairnFfxSetVulkan(&interface, nullptr));
  vulkan.struct_size = sizeof(vulkan);
  vulkan.get_instance_proc_addr = [](void*, const char*) -> CairnVoidFunction { return nullptr; };
  ASSERT_EQ(FFX_OK, cairnFfxSetVulkan(&interface, &vulkan));
  EXPECT_EQ(FFX_ERROR_NULL_DEVICE, ffxBreadcrumbsContextCreate(&context, &desc));
}

TEST(FfxMarkerTypes, KeepTheirNamesButForASuffix) {
  const std::vector<std::string> names = {"PASS",
#define X(marker) #marker,
                                          FFX_BREADCRUMBS_MARKER_LIST
#undef X
  };
  ASSERT_EQ(size_t{CAIRN_FFX_BREADCRUMBS_MARKER_COUNT}, names.size());
  const std::map<std::string, std::string> other_names = {
      {"EMIT_RAY_TRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO",
       "EMIT_RAY_TRACING_ACCELERATION_STRUCTURE_POST_BUILD_INFO"},
      {"BIND_SHADING_RATE_IMAGE_NV", "SET_SHADING_RATE_IMAGE"},
      {"DEBUG_MARKER_BEGIN_EXT", "BEGIN_DEBUG_UTILS_LABEL"},
      {"DEBUG_MARKER_END_EXT", "END_DEBUG_UTILS_LABEL"},
      {"DEBUG_MARKER_INSERT_EXT", "INSERT_DEBUG_UTILS_LABEL"},
      {"PROCESS_COMMANDS_NVX", "EXECUTE_GENERATED_COMMANDS"},
      {"BUILD_ACCELERATION_STRUCTURE_NV", "BUILD_ACCELERATION_STRUCTURES"},
      {"SET_SAMPLE_LOCATIONS_EXT", "SET_SAMPLE_POSITION"}};
  for (size_t i = 0; i < names.size(); ++i) {
    const CairnMarkerType type = MarkerTypeFromFfx(static_cast<FfxBreadcrumbsMarkerType>(i));
    const std::string ours(MarkerTypeName(type));
    const auto other = other_names.find(names[i]);
    if (other != other_names.end()) {
      EXPECT_EQ(other->second, ours);
      continue;
    }
    // "X_EXT", "X_2" and the plural "Xs" are Cairn's X.
    ASSERT_FALSE(ours.empty()) << names[i];
    EXPECT_EQ(0u, names[i].find(ours)) << names[i] << " became " << ours;
  }
}

// In the original two threads at one list, one ending a marker and one beginning the next, used memory
// after it was freed.
TEST_F(FfxBreadcrumbsTest, KnownFailure05_TwoThreadsBeginAndEndMarkersOnSharedLists) {
  constexpr int kPairs = 2000;
  Create(FFX_BREADCRUMBS_ENABLE_THREAD_SYNCHRONIZATION);
  List shared;
  List own[2];
  ASSERT_EQ(FFX_OK, Register(shared, "Shared"));
  std::atomic<int> failures{0};
  const auto work = [&](int thread) {
    if (Register(own[thread], "Own") != FFX_OK) ++failures;
    for (int i = 0; i < kPairs; ++i) {
      List& list = i % 2 == 0 ? shared : own[thread];
      if (Begin(list, FFX_BREADCRUMBS_MARKER_DISPATCH) != FFX_OK) ++failures;
      if (End(list) != FFX_OK) ++failures;
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_EQ(0, failures);
  // Every event of the shared list has a number of its own, in order.
  std::vector<uint32_t> sequences;
  for (const List::Write& write : shared.writes) sequences.push_back(write.value & 0xFFFFFF);
  for (size_t i = 1; i < sequences.size(); ++i) ASSERT_LT(sequences[i - 1], sequences[i]) << i;
  gpu_.Execute(shared);
  gpu_.Execute(own[0]);
  gpu_.Execute(own[1]);
  EXPECT_THAT(PrintTree(), Not(HasSubstr("[>]")));
}

// In the original every marker searched all lists, and reallocated three times.
TEST_F(FfxBreadcrumbsTest, KnownFailure08_ManyListsAreFoundWithoutSearchOrAllocation) {
  constexpr size_t kLists = 1000;
  Create();
  std::vector<List> lists(kLists);
  for (List& list : lists) {
    list.writes.reserve(16);
    ASSERT_EQ(FFX_OK, Register(list, "List"));
  }
  const auto mark_all = [&] {
    for (size_t i = 0; i < kLists; ++i) {
      // Neighbours in time are not neighbours in the table.
      List& list = lists[i * 7919 % kLists];
      ASSERT_EQ(FFX_OK, Begin(list, FFX_BREADCRUMBS_MARKER_DRAW));
      ASSERT_EQ(FFX_OK, End(list));
    }
  };
  mark_all();
  const int allocations = total_allocations;
  mark_all();
  EXPECT_EQ(allocations, total_allocations);
  for (const List& list : lists) {
    ASSERT_EQ(4u, list.writes.size());
    // The same two words each time, which no other list has.
    EXPECT_EQ(list.writes[0].location, list.writes[2].location);
    EXPECT_EQ(list.writes[1].location, list.writes[3].location);
  }
  std::map<uint64_t, const List*> owners;
  for (const List& list : lists) owners.emplace(list.writes[0].location, &list);
  EXPECT_EQ(kLists, owners.size());
}

TEST_F(FfxBreadcrumbsTest, KnownFailure08_ThreadsFindTheirOwnLists) {
  constexpr size_t kListsPerThread = 64;
  Create(FFX_BREADCRUMBS_ENABLE_THREAD_SYNCHRONIZATION);
  std::vector<List> lists(2 * kListsPerThread);
  std::atomic<int> failures{0};
  const auto work = [&](size_t thread) {
    for (size_t i = 0; i < kListsPerThread; ++i) {
      List& list = lists[thread * kListsPerThread + i];
      if (Register(list, "List") != FFX_OK) ++failures;
      for (int pair = 0; pair < 20; ++pair) {
        if (Begin(list, FFX_BREADCRUMBS_MARKER_DRAW) != FFX_OK) ++failures;
        if (End(list) != FFX_OK) ++failures;
      }
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_EQ(0, failures);
  for (const List& list : lists) EXPECT_EQ(40u, list.writes.size());
}

TEST(FfxVersion, Is1_0_0) {
  EXPECT_EQ(FfxVersionNumber{1 << 22}, ffxBreadcrumbsGetEffectVersion());
}

}  // namespace
}  // namespace cairn
