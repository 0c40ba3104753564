// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/marker_arena_reader.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "format/snapshot/testing/block_fuzz_input.h"
#include "format/snapshot/testing/test_block.h"

namespace cairn {
namespace {

constexpr uint32_t kMaxPayload = 1 << 20;

// One arena laid out by hand: as marker_pages.h says, and knowing nothing of the real writer.
class HandMadeArena {
 public:
  HandMadeArena(TestBlock& block, uint32_t entry, uint32_t generation, bool is_queue)
      : block_(block), record_(block.arena(entry)), entry_(entry) {
    if (block.header().arena_count.load() <= entry) block.header().arena_count.store(entry + 1);
    record_.state.store(1);
    record_.generation.store(generation);
    record_.is_queue = is_queue;
    record_.native_handle = 0xA110C;
    directory_page_ = NewPage();
    record_.first_directory_page.store(directory_page_);
    data_page_ = NewPage();
  }

  uint64_t Add(MarkerKind kind, uint32_t metadata, std::string_view payload,
               uint32_t submission = 0) {
    const uint32_t index = record_.end_index.fetch_add(1);
    const uint32_t position = index % kMarkersPerDirectoryPage;
    if (index != 0 && position == 0) {
      const uint32_t next = NewPage();
      directory().next_page.store(next);
      directory_page_ = next;
      directory().first.store(index);
    }
    if (used_ == kMarkerPageBytes) NextDataPage();
    directory().places[position].store(MakeMarkerPlace(data_page_, kind, used_));
    const MarkerRecord record = {metadata, static_cast<uint32_t>(payload.size()),
                                 static_cast<uint32_t>(payload.size()), submission};
    Write(std::string_view(reinterpret_cast<const char*>(&record), sizeof(record)));
    Write(payload);
    used_ = (used_ + kMarkerAlignment - 1) / kMarkerAlignment * kMarkerAlignment;
    return MakeEventId(entry_, record_.generation.load(), index);
  }

  ArenaRecord& record() { return record_; }
  MarkerDirectoryPage& directory() {
    return reinterpret_cast<MarkerDirectoryPage&>(block_.chunk(directory_page_));
  }
  MarkerDataPage& data() { return reinterpret_cast<MarkerDataPage&>(block_.chunk(data_page_)); }

 private:
  uint32_t NewPage() { return static_cast<uint32_t>(block_.header().next_page.fetch_add(1)); }
  void NextDataPage() {
    const uint32_t next = NewPage();
    data().next_page.store(next);
    data_page_ = next;
    used_ = 0;
  }
  void Write(std::string_view bytes) {
    for (const char byte : bytes) {
      if (used_ == kMarkerPageBytes) NextDataPage();
      data().bytes[used_++] = static_cast<std::byte>(byte);
    }
  }

  TestBlock& block_;
  ArenaRecord& record_;
  uint32_t entry_;
  uint32_t directory_page_ = 0;
  uint32_t data_page_ = 0;
  uint32_t used_ = 0;
};

class MarkerArenaReaderTest : public testing::Test {
 protected:
  EventIdState Resolve(uint64_t event_id, uint32_t max_payload = kMaxPayload) {
    const Result<BlockReader> reader = BlockReader::Open(block_.bytes());
    EXPECT_TRUE(reader.ok()) << reader.status().message();
    marker_ = KeptMarker();
    return MarkerArenaReader(*reader).Resolve(event_id, max_payload, &marker_);
  }
  std::vector<KeptMarker> QueueMarkers(uint32_t max_markers) {
    const Result<BlockReader> reader = BlockReader::Open(block_.bytes());
    EXPECT_TRUE(reader.ok()) << reader.status().message();
    return MarkerArenaReader(*reader).QueueMarkers(max_markers, kMaxPayload);
  }
  std::string Payload() const {
    return std::string(reinterpret_cast<const char*>(marker_.payload.data()),
                       marker_.payload.size());
  }

  TestBlock block_;
  KeptMarker marker_;
};

TEST_F(MarkerArenaReaderTest, ResolvesWhatTheApplicationPassed) {
  HandMadeArena arena(block_, 3, 7, false);
  const uint64_t event = arena.Add(MarkerKind::kBeginEvent, 1, "Shadow");
  const uint64_t marker = arena.Add(MarkerKind::kSetMarker, 0xFFFFFFFF, "");
  ASSERT_EQ(EventIdState::kResolved, Resolve(event));
  EXPECT_EQ(event, marker_.event_id);
  EXPECT_EQ(MarkerKind::kBeginEvent, marker_.kind);
  EXPECT_EQ(1u, marker_.metadata);
  EXPECT_EQ(6u, marker_.size_bytes);
  EXPECT_EQ("Shadow", Payload());
  EXPECT_EQ(0xA110Cu, marker_.native_handle);
  EXPECT_FALSE(marker_.of_queue);
  ASSERT_EQ(EventIdState::kResolved, Resolve(marker));
  EXPECT_EQ(MarkerKind::kSetMarker, marker_.kind);
  EXPECT_EQ(0xFFFFFFFFu, marker_.metadata);
  EXPECT_EQ("", Payload());
}

TEST_F(MarkerArenaReaderTest, FollowsPayloadsAndDirectoriesOverPages) {
  HandMadeArena arena(block_, 0, 1, false);
  std::string text(10000, 'x');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
  std::vector<uint64_t> ids;
  for (uint32_t i = 0; i < 3 * kMarkersPerDirectoryPage; ++i) {
    ids.push_back(arena.Add(MarkerKind::kSetMarker, i, std::to_string(i)));
  }
  const uint64_t large = arena.Add(MarkerKind::kBeginEvent, 2, text);
  for (uint32_t i = 0; i < ids.size(); i += 97) {
    ASSERT_EQ(EventIdState::kResolved, Resolve(ids[i])) << i;
    EXPECT_EQ(i, marker_.metadata);
    EXPECT_EQ(std::to_string(i), Payload());
  }
  ASSERT_EQ(EventIdState::kResolved, Resolve(large));
  EXPECT_EQ(text, Payload());
  ASSERT_EQ(EventIdState::kResolved, Resolve(large, 5000));
  EXPECT_EQ(text.substr(0, 5000), Payload());
  EXPECT_EQ(10000u, marker_.size_bytes);
}

TEST_F(MarkerArenaReaderTest, TellsExpiredFromUnknown) {
  HandMadeArena arena(block_, 2, 5, false);
  const uint64_t kept = arena.Add(MarkerKind::kSetMarker, 0, "a");
  arena.Add(MarkerKind::kSetMarker, 0, "b");
  EXPECT_EQ(EventIdState::kExpired, Resolve(MakeEventId(2, 4, 0)));  // before the last reset
  EXPECT_EQ(EventIdState::kUnknown, Resolve(MakeEventId(2, 6, 0)));  // after the next one
  EXPECT_EQ(EventIdState::kUnknown, Resolve(MakeEventId(2, 5, 2)));  // not given out yet
  EXPECT_EQ(EventIdState::kUnknown, Resolve(MakeEventId(9, 1, 0)));  // no such arena
  EXPECT_EQ(EventIdState::kUnknown, Resolve(0));
  EXPECT_EQ(EventIdState::kUnknown, Resolve(MakeUnkeptEventId(1)));  // never had an arena
  arena.record().first_index.store(1);
  EXPECT_EQ(EventIdState::kExpired, Resolve(kept));  // dropped by a queue's policy
  arena.directory().places[1].store(MakeMarkerPlace(0, MarkerKind::kSetMarker, 0));
  EXPECT_EQ(EventIdState::kExpired, Resolve(MakeEventId(2, 5, 1)));  // found no room
  arena.record().generation.store(kMaxEventIdGeneration + 1);        // used up
  EXPECT_EQ(EventIdState::kExpired, Resolve(MakeEventId(2, kMaxEventIdGeneration, 0)));
}

TEST_F(MarkerArenaReaderTest, GivesTheMarkersOfQueuesInOrder) {
  HandMadeArena of_list(block_, 0, 1, false);
  of_list.Add(MarkerKind::kSetMarker, 1, "of a list");
  HandMadeArena of_queue(block_, 1, 1, true);
  of_queue.Add(MarkerKind::kBeginEvent, 1, "Frame", 4);
  of_queue.Add(MarkerKind::kSetMarker, 1, "Half", 5);
  of_queue.Add(MarkerKind::kEndEvent, 0, "", 6);
  const std::vector<KeptMarker> markers = QueueMarkers(100);
  ASSERT_EQ(3u, markers.size());
  EXPECT_EQ(MarkerKind::kBeginEvent, markers[0].kind);
  EXPECT_EQ(4u, markers[0].submission);
  EXPECT_EQ(5u, markers[1].submission);
  EXPECT_EQ(MarkerKind::kEndEvent, markers[2].kind);
  EXPECT_TRUE(markers[2].of_queue);
  const std::vector<KeptMarker> newest = QueueMarkers(2);
  ASSERT_EQ(2u, newest.size());
  EXPECT_EQ(MarkerKind::kSetMarker, newest[0].kind);
}

TEST_F(MarkerArenaReaderTest, DamageIsUnknownAndReadsNothingOutside) {
  HandMadeArena arena(block_, 0, 1, true);
  const uint64_t id = arena.Add(MarkerKind::kSetMarker, 1, std::string(6000, 'z'));
  const uint32_t place = arena.directory().places[0].load();
  const uint32_t last_page = static_cast<uint32_t>(kTestBlockBytes / kPageBytes);
  for (const uint32_t page : {1u, last_page, 0xFFFFFu}) {
    arena.directory().places[0].store(MakeMarkerPlace(page, MarkerKind::kSetMarker, 0));
    EXPECT_EQ(EventIdState::kUnknown, Resolve(id)) << page;
  }
  arena.directory().places[0].store(place | 0xFF);  // no room for a record there
  EXPECT_EQ(EventIdState::kUnknown, Resolve(id));
  arena.directory().places[0].store(place);
  // The payload's chain of pages ends too early.
  auto& first = reinterpret_cast<MarkerDataPage&>(block_.chunk(MarkerPlacePage(place)));
  const uint32_t next = first.next_page.exchange(0);
  EXPECT_EQ(EventIdState::kUnknown, Resolve(id));
  first.next_page.store(next);
  EXPECT_EQ(EventIdState::kResolved, Resolve(id));
  // A directory that goes in a circle.
  arena.record().end_index.store(0xFFFFFFFF);
  arena.directory().next_page.store(arena.record().first_directory_page.load());
  EXPECT_EQ(EventIdState::kUnknown, Resolve(MakeEventId(0, 1, kMarkersPerDirectoryPage)));
  EXPECT_LE(QueueMarkers(0xFFFFFFFF).size(), kMarkersPerDirectoryPage);
}

// CAIRN_WRITE_SEEDS=fuzz/corpus writes the fuzzer's seeds again.
TEST_F(MarkerArenaReaderTest, WritesSeedsWhenAsked) {
  HandMadeArena of_list(block_, 0, 1, false);
  of_list.Add(MarkerKind::kBeginEvent, 1, "Shadow");
  const uint64_t large = of_list.Add(MarkerKind::kSetMarker, 2, std::string(5000, 'y'));
  HandMadeArena of_queue(block_, 1, 1, true);
  of_queue.Add(MarkerKind::kBeginEvent, 1, "Frame", 4);
  of_queue.Add(MarkerKind::kEndEvent, 0, "", 6);
  std::vector<uint8_t> patches = PatchesOf(block_.bytes());
  for (int shift = 0; shift < 64; shift += 8)
    patches.push_back(static_cast<uint8_t>(large >> shift));
  ASSERT_EQ(EventIdState::kResolved, Resolve(large));
  if (const char* corpus = std::getenv("CAIRN_WRITE_SEEDS")) {
    const std::filesystem::path folder = std::filesystem::path(corpus) / "marker_arena_reader_fuzz";
    std::filesystem::create_directories(folder);
    std::ofstream file(folder / "list-and-queue", std::ios::binary);
    file.write(reinterpret_cast<const char*>(patches.data()),
               static_cast<std::streamsize>(patches.size()));
    ASSERT_TRUE(file.good());
  }
}

}  // namespace
}  // namespace cairn
