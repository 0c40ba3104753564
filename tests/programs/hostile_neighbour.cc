// SPDX-License-Identifier: Apache-2.0
//
// Attacks the programs beside it through the watcher that they share:
//   hostile_neighbour claims N CONTEXTS   N children hand over the same block, which has CONTEXTS times 65,536 command
//                                         lists, and live on
//   hostile_neighbour owns N CONTEXTS     the same, each with a block of its own
//   hostile_neighbour events              a block full of markers, of which each word is as the layout wants it; dies
//   hostile_neighbour reports             the same, loses a device again and again
//   hostile_neighbour descriptors         descriptors of all but memory, some slow to close; lives on
//   hostile_neighbour huge                memory of huge pages with a hole; exits
//   hostile_neighbour flood               messages for ever
// A process that lives on prints "ready PID" once it has done all of that.
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "app/recorder/watcher_link.h"
#include "format/block/block.h"
#include "format/block/destructions.h"
#include "format/block/handover.h"
#include "send_descriptors.h"

namespace {

using cairn::BlockHeader;
using cairn::kPageBytes;

// Children share it.
int Socket() {
  static const cairn::Result<cairn::RawHandle> socket = cairn::WatcherSocket();
  if (!socket.ok()) std::exit(68);
  return static_cast<int>(*socket);
}

void Send(cairn::HandoverKind kind, uint64_t bytes = 0, std::span<const int> descriptors = {}) {
  cairn::HandoverMessage message;
  message.kind = kind;
  message.block_bytes = bytes;
  // It may be full of what others have sent.
  static_cast<void>(SendDescriptors(Socket(), &message, sizeof(message), descriptors));
}

void SendOne(int descriptor, uint64_t bytes) {
  Send(cairn::HandoverKind::kBlock, bytes, {&descriptor, 1});
}

[[noreturn]] void LiveOn() {
  std::printf("ready %d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  for (;;) pause();
}

// A block that is laid out, with tables where they belong.
class Block {
 public:
  explicit Block(uint64_t size_bytes) : size_bytes_(size_bytes) {
    fd_ = memfd_create(cairn::kBlockMemoryName, MFD_ALLOW_SEALING | MFD_CLOEXEC);
    if (ftruncate(fd_, static_cast<off_t>(size_bytes)) != 0) std::exit(70);
    fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    data_ = static_cast<std::byte*>(
        mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
    if (data_ == MAP_FAILED) std::exit(71);
    BlockHeader& mine = header();
    mine.version = cairn::kBlockVersion;
    mine.header_bytes = sizeof(BlockHeader);
    mine.block_bytes = size_bytes;
    mine.process_id = static_cast<uint64_t>(getpid());
    next_ = kPageBytes;
    mine.contexts_offset = Place(cairn::kMaxContexts * sizeof(cairn::ContextRecord));
    mine.queues_offset = Place(cairn::kMaxQueues * sizeof(cairn::QueueRecord));
    mine.pipelines_offset = Place(cairn::kMaxPipelines * sizeof(cairn::PipelineRecord));
    mine.submissions_offset = Place(cairn::kSubmissionRing * sizeof(cairn::SubmissionRecord));
    mine.magic = cairn::kBlockMagic;
  }
  BlockHeader& header() { return *reinterpret_cast<BlockHeader*>(data_); }
  uint64_t Place(uint64_t bytes) {
    const uint64_t at = next_;
    next_ += (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    if (next_ > size_bytes_) std::exit(72);
    return at;
  }
  template <typename T>
  T& At(uint64_t offset) {
    return *reinterpret_cast<T*>(data_ + offset);
  }
  // With so many lists, each of which was used.
  cairn::ContextRecord& AddContext(uint32_t lists) {
    auto& record = At<cairn::ContextRecord>(header().contexts_offset +
                                            header().context_count * sizeof(cairn::ContextRecord));
    record.recordings_offset = Place(uint64_t{lists} * sizeof(cairn::RecordingSlot));
    record.progress_offset = Place(uint64_t{lists} * sizeof(cairn::ProgressWords));
    record.recording_capacity = lists;
    record.mode = cairn::MarkerMode::kTop;
    record.state = 1;
    for (uint32_t i = 0; i < lists; ++i) {
      auto& slot = Slot(record, i);
      slot.recording_id = ++header().next_recording_id;
      slot.queue = cairn::kNoQueue;
      slot.submit_count = 1;
      slot.state = static_cast<uint32_t>(cairn::RecordingState::kClosed);
    }
    ++header().context_count;
    return record;
  }
  cairn::RecordingSlot& Slot(const cairn::ContextRecord& context, uint32_t index) {
    return At<cairn::RecordingSlot>(context.recordings_offset +
                                    index * sizeof(cairn::RecordingSlot));
  }
  uint64_t pages_left() const { return (size_bytes_ - next_) / kPageBytes; }
  void HandOver() const { SendOne(fd_, size_bytes_); }

 private:
  int fd_ = -1;
  uint64_t size_bytes_;
  std::byte* data_ = nullptr;
  uint64_t next_ = 0;
};

constexpr uint32_t kMostLists = 65536;

uint64_t BytesFor(int contexts) {
  constexpr uint64_t kTables = uint64_t{16} << 20;
  constexpr uint64_t kList = sizeof(cairn::RecordingSlot) + sizeof(cairn::ProgressWords);
  return kTables + static_cast<uint64_t>(contexts) * kMostLists * kList;
}

void MakeClaims(Block& block, int contexts) {
  for (int i = 0; i < contexts; ++i) block.AddContext(kMostLists);
}

void Claims(int children, int contexts, bool own) {
  Block block(BytesFor(own ? 0 : contexts));
  if (!own) MakeClaims(block, contexts);
  int handed_over[2];
  char byte = 0;
  if (pipe(handed_over) != 0) std::exit(73);
  for (int i = 0; i < children; ++i) {
    if (fork() != 0) continue;
    if (own) {
      Block mine(BytesFor(contexts));
      MakeClaims(mine, contexts);
      mine.HandOver();
    } else {
      block.HandOver();
    }
    if (write(handed_over[1], &byte, 1) != 1) _exit(74);
    for (;;) pause();
  }
  for (int i = 0; i < children; ++i) {
    if (read(handed_over[0], &byte, 1) != 1) std::exit(75);
  }
  LiveOn();
}

// Fills the block with begins; their names are all different, each on a page of its own as far as
// possible.
void FillWithEvents(Block& block) {
  constexpr uint32_t kLists = 64;
  cairn::ContextRecord& context = block.AddContext(kLists);
  const uint64_t pages = block.pages_left() / 2;
  const uint64_t names = block.Place(pages * kPageBytes);
  for (uint64_t i = 0; i < pages; ++i) {
    block.At<uint32_t>(names + i * kPageBytes) = 1000;
    std::memset(&block.At<char>(names + i * kPageBytes + 4), 'a' + static_cast<int>(i % 26), 1000);
  }
  uint64_t number = 0;
  for (uint32_t list = 0; list < kLists; ++list) {
    auto& slot = block.Slot(context, list);
    const auto chunks = static_cast<uint32_t>(block.pages_left() / (kLists - list));
    uint32_t before = 0;
    for (uint32_t c = 0; c < chunks; ++c) {
      const uint64_t at = block.Place(kPageBytes);
      const auto page = static_cast<uint32_t>(at / kPageBytes);
      auto& chunk = block.At<cairn::EventChunk>(at);
      for (cairn::EventRecord& event : chunk.events) {
        event.kind = cairn::EventKind::kBegin;
        event.flags = cairn::kEventWritesTop;
        const uint64_t name = names + number++ % pages * kPageBytes;
        event.name = static_cast<cairn::NameRef>(name / 8);
      }
      if (before == 0) {
        slot.first_event_page = page;
      } else {
        block.At<cairn::EventChunk>(uint64_t{before} * kPageBytes).next_page = page;
      }
      before = page;
    }
    slot.event_count = std::min(chunks * cairn::kEventsPerChunk, cairn::kMaxSequence);
  }
  block.header().next_page = block.header().block_bytes / kPageBytes;
}

void Events(bool reports) {
  Block block(uint64_t{1} << 30);
  FillWithEvents(block);
  block.HandOver();
  if (!reports) raise(SIGKILL);
  auto& context = block.At<cairn::ContextRecord>(block.header().contexts_offset);
  context.device_lost = 1;
  Send(cairn::HandoverKind::kDeviceLost);
  for (uint32_t i = 1; i < cairn::kMaxContexts; ++i) {
    auto& more = block.At<cairn::ContextRecord>(block.header().contexts_offset +
                                                i * sizeof(cairn::ContextRecord));
    more.state = 1;
    more.device_lost = 1;
    block.header().context_count = i + 1;
    Send(cairn::HandoverKind::kDeviceLost);
  }
  LiveOn();
}

// A connection whose other end reads nothing: closing it waits for a minute until what was sent has arrived.
int LingeringSocket(std::vector<int>* kept) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const int small = 4096;
  setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener, 1) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::exit(76);
  }
  const int sender = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(sender, reinterpret_cast<sockaddr*>(&address), size) != 0) std::exit(77);
  kept->push_back(accept(listener, nullptr, nullptr));
  close(listener);
  const std::vector<char> much(1 << 20);
  while (send(sender, much.data(), much.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
  }
  const linger slowly{1, 60};
  setsockopt(sender, SOL_SOCKET, SO_LINGER, &slowly, sizeof(slowly));
  return sender;
}

void Descriptors() {
  std::vector<int> kept;
  const uint64_t bytes = cairn::kMinBlockBytes;
  // Where the watcher has closed its own already, this is the close that waits.
  const auto give_up = [](int descriptor) {
    if (descriptor > STDERR_FILENO) std::thread([descriptor] { close(descriptor); }).detach();
  };
  const auto give = [&](int descriptor) {
    SendOne(descriptor, bytes);
    give_up(descriptor);
  };
  for (int i = 0; i < 8; ++i) give(LingeringSocket(&kept));
  // As the second descriptor of a message, as one of many, and inside of another socket.
  int pair[2];
  std::vector<int> many;
  for (int i = 0; i < 30; ++i) many.push_back(LingeringSocket(&kept));
  Send(cairn::HandoverKind::kBlock, bytes, many);
  for (const int each : many) give_up(each);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) std::exit(78);
  give(pair[0]);
  give(pair[1]);
  if (pipe(pair) != 0) std::exit(78);
  give(pair[0]);
  give(pair[1]);
  give(open("/dev/null", O_RDWR));
  give(open("/", O_RDONLY | O_DIRECTORY));
  give(open("/proc/self/exe", O_RDONLY));
  give(open("/proc/self/exe", O_PATH));
  give(open("/dev/ptmx", O_RDWR | O_NOCTTY));
  LiveOn();
}

int Huge() {
  constexpr uint64_t kHugePage = uint64_t{2} << 20;
  const uint64_t bytes = cairn::kMinBlockBytes;
  const int fd = memfd_create("huge", MFD_ALLOW_SEALING | MFD_CLOEXEC | MFD_HUGETLB);
  if (fd < 0) return 69;
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) return 70;
  // Reserves nothing, so that whoever touches it first finds no page.
  void* const data =
      mmap(nullptr, kHugePage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (data != MAP_FAILED) munmap(data, kHugePage);
  fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes));
  SendOne(fd, bytes);
  return 0;
}

void Flood() {
  for (uint32_t kind = 0;; ++kind) Send(static_cast<cairn::HandoverKind>(kind % 8));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  (void)Socket();
  if ((mode == "claims" || mode == "owns") && argc > 3) {
    Claims(std::atoi(argv[2]), std::atoi(argv[3]), mode == "owns");
  }
  if (mode == "events" || mode == "reports") Events(mode == "reports");
  if (mode == "descriptors") Descriptors();
  if (mode == "huge") return Huge();
  if (mode == "flood") Flood();
  return 67;
}
