// SPDX-License-Identifier: Apache-2.0
#include "app/capture/testing/test_watcher.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "app/capture/capture.h"
#include "app/recorder/watcher_link.h"
#include "format/block/handover.h"
#include "format/settings/layer_settings.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/futex.h"

namespace cairn {
namespace {

constexpr uint64_t kLookEveryNs = 2'000'000;

}  // namespace

TestWatcher::TestWatcher(Keep keep) : keep_(keep) {
  Result<ChannelEnds> ends = MakeChannel();
  if (!ends.ok() || !server_.Open().ok() || !messages_.Open().ok()) abort();
  const Result<uint64_t> added = server_.Add(std::move(ends->first), OwnProcessId());
  if (!added.ok() || !messages_.Add(server_.handle(), 0).ok()) abort();
  connection_ = *added;
  programs_end_ = std::move(ends->second);
  SetVariable(kVariableOf<&LayerSettings::watcher_fd>, TextOfInherited(programs_end_.get()));
  thread_ = std::thread([this] { Run(); });
}

TestWatcher::~TestWatcher() {
  Finish();
  ClearVariable(kVariableOf<&LayerSettings::watcher_fd>);
}

void TestWatcher::Die() {
  finish_.store(true);
  if (thread_.joinable()) thread_.join();
  server_.Close(connection_);
}

void TestWatcher::Request(CaptureRequest request) {
  header()->request.store(static_cast<uint32_t>(request), std::memory_order_release);
}

CaptureRegionHeader* TestWatcher::header() {
  return has_region_ ? reinterpret_cast<CaptureRegionHeader*>(region_->data()) : nullptr;
}

CaptureRing* TestWatcher::ring(uint32_t index) {
  return reinterpret_cast<CaptureRing*>(region_->data() + header()->rings_offset) + index;
}

AttachedMemory TestWatcher::TakeMemory() {
  while (!has_memory_) std::this_thread::yield();
  return std::move(memory_);
}

bool TestWatcher::Receive() {
  (void)messages_.Wait(MonotonicNs() + kLookEveryNs);
  uint64_t connection = 0;
  ChannelMessage received;
  if (server_.Next(&connection, &received) != ChannelServer::Event::kMessage) return false;
  HandoverMessage message;
  if (received.size_bytes != sizeof(message)) return false;
  std::memcpy(&message, received.data.data(), sizeof(message));
  if (message.kind != HandoverKind::kCapture) return false;
  if (keep_ == Keep::kNoRegion) {
    memory_ = std::move(received.memory);
    has_memory_ = true;
    return true;
  }
  Result<SharedMemory> region = received.memory.MapForWriting(message.block_bytes);
  if (!region.ok()) abort();
  region_ = std::move(*region);
  has_region_ = true;
  this->header()->reader.store(static_cast<uint32_t>(CaptureReader::kReads));
  return true;
}

void TestWatcher::Run() {
  for (bool last = false; !has_region_ && !has_memory_ && !last;) {
    last = finish_;
    Receive();
  }
  while (has_region_) {
    const bool last = finish_;
    const uint32_t bell = header()->doorbell.load();
    const bool found = !paused_ && ReadRings();
    if (last && !found) return;
    // Like the real one, it waits whenever it has taken all that is there.
    if (!last) FutexWait(*region_, header()->doorbell, bell, kLookEveryNs);
  }
}

bool TestWatcher::ReadRings() {
  bool found = false;
  for (uint32_t i = 0; i < kCaptureRings; ++i) {
    CaptureRing& theirs = *ring(i);
    const uint32_t state = theirs.state.load(std::memory_order_acquire);
    const uint64_t tail = theirs.tail.load(std::memory_order_relaxed);
    const uint64_t head = theirs.head.load(std::memory_order_acquire);
    if (head != tail) {
      found = true;
      Read(i, tail, head);
      theirs.tail.store(head, std::memory_order_seq_cst);
    } else if (state == kEntryRetired) {
      theirs.state.store(kEntryFree, std::memory_order_release);
    }
  }
  if (found) {
    const uint32_t was = header()->drained.fetch_add(1, std::memory_order_seq_cst);
    FutexWake(*region_, header()->drained, was);
  }
  return found;
}

void TestWatcher::Read(uint32_t ring, uint64_t position, uint64_t head) {
  const std::byte* const bytes =
      region_->data() + header()->ring_bytes_offset + uint64_t{ring} * kCaptureRingBytes;
  while (position != head) {
    const std::byte* const at = bytes + position % kCaptureRingBytes;
    TestRecord record;
    std::memcpy(&record.header, at, sizeof(record.header));
    position += record.header.size_bytes;
    if (static_cast<uint32_t>(record.header.kind) == 0) {  // a pad, or unused numbers
      if (record.header.number != 0) unused_ += record.header.object - record.header.number + 1;
      continue;
    }
    const bool spilled = (record.header.flags & kRecordSpilled) != 0;
    if (keep_ == Keep::kNothing && !spilled) continue;
    const std::byte* const body = at + sizeof(record.header);
    record.body.assign(body, body + record.header.body_bytes);
    if (spilled) GatherBlob(&record);
    if (keep_ == Keep::kNothing) continue;
    // A number that came twice would hide behind the first.
    if (!records_.emplace(record.header.number, std::move(record)).second) abort();
  }
}

void TestWatcher::GatherBlob(TestRecord* record) {
  const auto body = record->As<BlobBody>();
  std::vector<std::byte> gathered(record->body.begin(), record->body.begin() + sizeof(body));
  uint32_t left = body.size_bytes;
  for (uint32_t i = 0; i < body.block_count; ++i) {
    const auto block = record->As<uint32_t>(sizeof(body) + i * sizeof(uint32_t));
    const std::byte* const bytes =
        region_->data() + header()->spill_offset + uint64_t{block} * kSpillBlockBytes;
    const uint32_t part = std::min(left, kSpillBlockBytes);
    gathered.insert(gathered.end(), bytes, bytes + part);
    left -= part;
    header()->spill_used[block / 64].fetch_and(~(uint64_t{1} << block % 64));
  }
  record->body = std::move(gathered);
}

std::vector<TestRecord> TestWatcher::Finish() {
  Capture* const capture = Capture::Active();
  if (capture != nullptr && keep_ != Keep::kNoRegion) {
    while (!has_region_) std::this_thread::yield();  // it is in the socket
    Request(CaptureRequest::kStop);
    capture->FrameEnded(header()->frame.load());
  }
  paused_ = false;
  finish_ = true;
  if (thread_.joinable()) thread_.join();
  std::vector<TestRecord> records;
  for (const auto& [number, record] : records_) records.push_back(record);
  return records;
}

std::vector<std::byte> TestWatcher::Bytes(const std::vector<TestRecord>& all,
                                          const TestRecord& record, size_t offset) {
  const auto size = record.As<uint32_t>(offset);
  if (size != kBytesInBlobs) {
    const auto begin = record.body.begin() + static_cast<ptrdiff_t>(offset + sizeof(size));
    return size == kNullBytes ? std::vector<std::byte>()
                              : std::vector<std::byte>(begin, begin + size);
  }
  const auto parts = record.As<uint32_t>(offset + 12);
  std::vector<std::byte> bytes;
  for (uint32_t i = 0; i < parts; ++i) {
    const auto number = record.As<uint64_t>(offset + 16 + i * sizeof(uint64_t));
    for (const TestRecord& blob : all) {
      if (blob.header.number != number) continue;
      bytes.insert(bytes.end(), blob.body.begin() + sizeof(BlobBody), blob.body.end());
    }
  }
  return bytes;
}

}  // namespace cairn
