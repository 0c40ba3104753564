// SPDX-License-Identifier: Apache-2.0
//
// For tests: a watcher inside of the test's own process, which reads what a capture records and keeps
// it. It trusts the region; the real one (watcher/region_reader.h) does not.
//
//   TestWatcher watcher;                        // before Capture::Start
//   ASSERT_TRUE(Capture::Start({}).ok());
//   ...
//   const std::vector<TestRecord> records = watcher.Finish();  // stops the capture
#ifndef CAIRN_APP_CAPTURE_TESTING_TEST_WATCHER_H_
#define CAIRN_APP_CAPTURE_TESTING_TEST_WATCHER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "format/block/capture_region.h"
#include "format/calls/record.h"
#include "os/channel.h"
#include "os/shared_memory.h"
#include "os/wait_set.h"

namespace cairn {

struct TestRecord {
  RecordHeader header;
  std::vector<std::byte> body;  // of blobs in the spill: BlobBody and the bytes

  // The struct at `offset` of the body.
  template <typename Body>
  Body As(size_t offset = 0) const {
    Body value{};
    if (body.size() >= offset + sizeof(value)) {
      __builtin_memcpy(&value, body.data() + offset, sizeof(value));
    }
    return value;
  }
};

class TestWatcher {
 public:
  enum class Keep { kAll, kNothing, kNoRegion };
  explicit TestWatcher(Keep keep = Keep::kAll);
  ~TestWatcher();
  TestWatcher(const TestWatcher&) = delete;
  TestWatcher& operator=(const TestWatcher&) = delete;

  // While paused it reads nothing: rings and spill fill up.
  void Pause(bool pause) { paused_.store(pause); }
  // Acts like a watcher that was killed: closes its end of the channel and reads no more.
  void Die();
  void Request(CaptureRequest request);
  // Null before a capture was handed over.
  CaptureRegionHeader* header();
  CaptureRing* ring(uint32_t index);
  // Returns the region that was handed over to a Keep::kNoRegion, for another reader. Waits for it.
  AttachedMemory TakeMemory();

  // The numbers that threads gave back unused. After Finish().
  uint64_t unused() const { return unused_; }
  // Returns the records in order of their numbers. Ends the capture if it has not ended.
  std::vector<TestRecord> Finish();
  // The bytes of a byte value at `offset` of the body, from blobs too.
  static std::vector<std::byte> Bytes(const std::vector<TestRecord>& all, const TestRecord& record,
                                      size_t offset);

 private:
  void Run();
  bool Receive();
  // True if there was anything.
  bool ReadRings();
  void Read(uint32_t ring, uint64_t position, uint64_t head);
  void GatherBlob(TestRecord* record);

  const Keep keep_;
  SystemHandle programs_end_;
  ChannelServer server_;
  uint64_t connection_ = 0;
  WaitSet messages_;
  std::optional<SharedMemory> region_;
  std::atomic<bool> has_region_{false};
  AttachedMemory memory_;
  std::atomic<bool> has_memory_{false};
  std::atomic<bool> paused_{false};
  std::atomic<bool> finish_{false};
  std::map<uint64_t, TestRecord> records_;
  uint64_t unused_ = 0;
  std::thread thread_;
};

}  // namespace cairn

#endif  // CAIRN_APP_CAPTURE_TESTING_TEST_WATCHER_H_
