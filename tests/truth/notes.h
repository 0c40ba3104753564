// SPDX-License-Identifier: Apache-2.0
//
// The truth: what each work itself says of how far it came, in a file that outlives the program and knows
// nothing of Cairn. README.md has the layout.
#ifndef CAIRN_TESTS_TRUTH_NOTES_H_
#define CAIRN_TESTS_TRUTH_NOTES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace cairn::truth {

// The words of each work: a word for each of 64 invocations, 1 begun and 2 ended; one that a vertex
// shader sets to 1; the number of the last instance, for the pixel shader; the ticks of its clock
// that the loop of the first invocation took; unused ones.
inline constexpr uint32_t kInvocations = 64;
inline constexpr uint32_t kVertexWord = 64;
inline constexpr uint32_t kLastInstanceWord = 65;
inline constexpr uint32_t kTicksWord = 66;
inline constexpr uint32_t kWordsPerWork = 72;

class Notes {
 public:
  // Makes the file and maps it; ends the program with 2 if that fails. One work more than asked for has words:
  // one that nobody is told of.
  Notes(const std::string& file, uint32_t work_count);
  ~Notes();
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;

  // Returns true if no disk backs the file: a driver can import its memory.
  bool in_memory() const { return in_memory_; }
  // Returns the memory that the GPU writes: page-aligned, a multiple of the page size.
  void* words() const { return words_; }
  size_t words_bytes() const { return words_bytes_; }
  static uint64_t OffsetOf(uint32_t work) {
    return uint64_t{work} * kWordsPerWork * sizeof(uint32_t);
  }

  // Returns the words where the CPU sees them first: there, or where they are copied from.
  const volatile uint32_t* WordsOf(uint32_t work) const;
  // From now on the words are copied from there, where the GPU cannot write into the file.
  void CopyFrom(const void* memory) { source_ = memory; }
  void SetLastInstance(uint32_t work, uint32_t instance);

  // A thread that notes when it first sees each work begin and end, about every millisecond.
  void StartWatching();
  void StopWatching();
  bool Begun(uint32_t work) const;
  bool Ended(uint32_t work) const;

  // The frame of the fault is about to be submitted.
  void NoteSubmission();
  // This is the moment of the fault. Takes a last look before.
  void NoteFault();
  // Everything went as it should.
  void NoteGoodEnd();

 private:
  struct Header;
  struct Times;
  void Watch();
  void Look();

  const uint32_t work_count_;
  bool in_memory_ = false;
  void* file_ = nullptr;
  size_t file_bytes_ = 0;
  void* words_ = nullptr;
  size_t words_bytes_ = 0;
  std::atomic<const void*> source_ = nullptr;
  std::atomic<bool> watching_ = false;
  std::mutex looking_;
  std::thread watcher_;
};

}  // namespace cairn::truth

#endif  // CAIRN_TESTS_TRUTH_NOTES_H_
