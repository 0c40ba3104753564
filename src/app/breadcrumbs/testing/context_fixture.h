// SPDX-License-Identifier: Apache-2.0
//
// Shared by the tests of contexts: a context on a simulated GPU, and a view of its block.
#ifndef CAIRN_APP_BREADCRUMBS_TESTING_CONTEXT_FIXTURE_H_
#define CAIRN_APP_BREADCRUMBS_TESTING_CONTEXT_FIXTURE_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/testing/simulated_gpu.h"
#include "app/breadcrumbs/testing/test_context_desc.h"

namespace cairn {

// An event of a list as it is stored in the block.
struct SeenEvent {
  EventKind kind;
  int flags;
  int type;
  std::string name;
  uint32_t match;
  bool operator==(const SeenEvent&) const = default;
};

inline void PrintTo(const SeenEvent& event, std::ostream* out) {
  *out << (event.kind == EventKind::kBegin ? "begin " : "end ") << event.type << " flags "
       << event.flags << " \"" << event.name << "\" match " << event.match;
}

class ContextTest : public testing::Test {
 protected:
  void Make(CairnContextDesc desc = Desc()) {
    if (context_ != nullptr) Context::Destroy(context_);
    Result<std::unique_ptr<BlockWriter>> block = BlockWriter::Create(block_bytes_);
    ASSERT_TRUE(block.ok());
    block_ = std::move(*block);
    Result<Context*> context = Context::Create(
        desc, block_.get(), std::make_unique<SimulatedBackend>(&live_lists_, [this](uint32_t slot) {
          if (on_clear_) on_clear_(slot);
        }));
    ASSERT_TRUE(context.ok()) << context.status().message();
    context_ = *context;
  }
  void TearDown() override {
    if (context_ != nullptr) Context::Destroy(context_);
  }

  static CairnContextDesc Desc() { return TestContextDesc(); }

  CommandList* Begin(SimulatedList& native, uint32_t flags = 0) {
    CairnCommandListDesc desc{};
    desc.struct_size = sizeof(desc);
    desc.flags = flags;
    desc.native = &native;
    desc.name = "Main";
    CommandList* list = nullptr;
    const Status status = context_->BeginCommandList(desc, &list);
    EXPECT_TRUE(status.ok()) << status.message();
    return list;
  }

  // A whole list with one draw: writes 1 at the top, then 2 at the bottom.
  CommandList* RecordOneDraw(SimulatedList& native, uint32_t flags = 0) {
    CommandList* list = Begin(native, flags);
    EXPECT_EQ(list->BeginMarker(CAIRN_MARKER_DRAW, nullptr, CAIRN_NAME_STATIC), CAIRN_OK);
    EXPECT_EQ(list->EndMarker(), CAIRN_OK);
    EXPECT_EQ(list->End(), CAIRN_OK);
    return list;
  }

  std::vector<SeenEvent> Events(const CommandList& list) const {
    std::vector<SeenEvent> events;
    uint32_t page = list.slot()->first_event_page;
    for (uint32_t i = 0; i < list.slot()->event_count.load(); ++i) {
      if (i != 0 && i % kEventsPerChunk == 0) page = Chunk(page)->next_page.load();
      const EventRecord& event = Chunk(page)->events[EventPosition(list.slot_index(), i)];
      events.push_back({event.kind, event.flags, event.type, Name(event.name), event.match});
    }
    return events;
  }
  std::string Name(NameRef ref) const {
    return ref == 0 ? "" : std::string(block_->Name(ref)->bytes, block_->Name(ref)->length_bytes);
  }
  const EventChunk* Chunk(uint32_t page) const {
    return reinterpret_cast<const EventChunk*>(block_->Page(page));
  }
  const ProgressWords& Words(const CommandList& list) const {
    return reinterpret_cast<const ProgressWords*>(
        block_->data() + block_->contexts()[0].progress_offset)[list.slot_index()];
  }
  uint32_t Reached(const CommandList& list) const {
    return ProgressSequence(Words(list).reached.load(), list.slot()->generation);
  }
  uint32_t Passed(const CommandList& list) const {
    return ProgressSequence(Words(list).passed.load(), list.slot()->generation);
  }

  uint64_t block_bytes_ = kMinBlockBytes;
  int live_lists_ = 0;
  std::function<void(uint32_t)> on_clear_;  // a slot's words are about to be cleared
  std::unique_ptr<BlockWriter> block_;
  Context* context_ = nullptr;
};

inline constexpr int kTop = kEventWritesTop;
inline constexpr int kBottom = kEventWritesBottom;

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_TESTING_CONTEXT_FIXTURE_H_
