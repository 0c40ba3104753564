// SPDX-License-Identifier: Apache-2.0
#include "truth/notes.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cairn::truth {
namespace {

constexpr char kMagic[8] = {'c', 'a', 'i', 'r', 'n', 't', 'r', 'u'};
constexpr size_t kPage = 65536;  // a multiple of every page that a machine with a GPU has

size_t PagesFor(size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

uint64_t Now() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

struct Notes::Header {
  char magic[8];
  uint64_t work_count;
  uint64_t times_offset;
  uint64_t words_offset;
  uint64_t words_per_work;
  volatile uint64_t submitted_ns;  // CLOCK_REALTIME, as all times; 0: not noted
  volatile uint64_t fault_ns;
  volatile uint64_t good_end_ns;
  volatile uint64_t looked_ns;
};
struct Notes::Times {
  volatile uint64_t begun_ns;
  volatile uint64_t ended_ns;
};

Notes::Notes(const std::string& file, uint32_t work_count) : work_count_(work_count) {
  const size_t times_offset = 4096;
  const size_t words_offset = PagesFor(times_offset + work_count * sizeof(Times));
  words_bytes_ = PagesFor(OffsetOf(work_count + 1));
  file_bytes_ = words_offset + words_bytes_;
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool sized = descriptor >= 0 && ftruncate(descriptor, static_cast<off_t>(file_bytes_)) == 0;
  // The page behind the file must be unmapped: one of the faults stores there.
  void* place = mmap(nullptr, file_bytes_ + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  file_ = MAP_FAILED;
  if (sized && place != MAP_FAILED) {
    file_ = mmap(place, file_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0);
  }
  if (file_ == MAP_FAILED) {
    std::perror(file.c_str());
    std::exit(2);
  }
  struct statfs system = {};
  in_memory_ = fstatfs(descriptor, &system) == 0 && system.f_type == TMPFS_MAGIC;
  close(descriptor);
  words_ = static_cast<char*>(file_) + words_offset;
  auto* header = static_cast<Header*>(file_);
  std::memcpy(header->magic, kMagic, sizeof(kMagic));
  header->work_count = work_count;
  header->times_offset = times_offset;
  header->words_offset = words_offset;
  header->words_per_work = kWordsPerWork;
}

Notes::~Notes() {
  StopWatching();
  munmap(file_, file_bytes_ + kPage);
}

const volatile uint32_t* Notes::WordsOf(uint32_t work) const {
  const void* source = source_;
  return static_cast<const volatile uint32_t*>(source != nullptr ? source : words_) +
         work * kWordsPerWork;
}

void Notes::SetLastInstance(uint32_t work, uint32_t instance) {
  const_cast<volatile uint32_t*>(WordsOf(work))[kLastInstanceWord] = instance;
}

bool Notes::Begun(uint32_t work) const {
  const volatile uint32_t* words = WordsOf(work);
  for (uint32_t i = 0; i <= kVertexWord; ++i) {
    if (words[i] != 0) return true;
  }
  return false;
}

bool Notes::Ended(uint32_t work) const {
  const volatile uint32_t* words = WordsOf(work);
  for (uint32_t i = 0; i < kInvocations; ++i) {
    if (words[i] != 2) return false;
  }
  return true;
}

void Notes::Look() {
  const std::lock_guard lock(looking_);
  auto* times = reinterpret_cast<Times*>(static_cast<char*>(file_) +
                                         static_cast<Header*>(file_)->times_offset);
  const uint64_t now = Now();
  for (uint32_t work = 0; work < work_count_; ++work) {
    if (times[work].ended_ns != 0) continue;
    if (times[work].begun_ns == 0 && Begun(work)) times[work].begun_ns = now;
    if (Ended(work)) times[work].ended_ns = now;
  }
  const void* source = source_;
  if (source != nullptr) std::memcpy(words_, source, words_bytes_);
  static_cast<Header*>(file_)->looked_ns = now;
}

void Notes::Watch() {
  while (watching_) {
    Look();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Notes::StartWatching() {
  watching_ = true;
  watcher_ = std::thread([this] { Watch(); });
}

void Notes::StopWatching() {
  if (!watching_.exchange(false)) return;
  watcher_.join();
  Look();
}

void Notes::NoteSubmission() {
  static_cast<Header*>(file_)->submitted_ns = Now();
}

void Notes::NoteFault() {
  Look();
  static_cast<Header*>(file_)->fault_ns = Now();
}

void Notes::NoteGoodEnd() {
  static_cast<Header*>(file_)->good_end_ns = Now();
}

}  // namespace cairn::truth
