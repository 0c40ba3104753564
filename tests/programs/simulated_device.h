// SPDX-License-Identifier: Apache-2.0
//
// A device for test programs: a custom backend whose command lists are vectors, and a GPU that the
// program itself drives step by step. It does one thing at a time, in order.
#ifndef CAIRN_TESTS_PROGRAMS_SIMULATED_DEVICE_H_
#define CAIRN_TESTS_PROGRAMS_SIMULATED_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "cairn/breadcrumbs.h"

// Ends the program with code 70 if a call that must work does not.
inline void Must(CairnResult result, const char* call) {
  if (result == CAIRN_OK) return;
  std::fprintf(stderr, "%s: %s: %s\n", call, cairnResultString(result), cairnGetLastErrorMessage());
  std::exit(70);
}

struct SimulatedCommandList {
  struct Write {
    uint64_t address;
    uint32_t value;
    bool is_begin;  // at the top of the pipe, else at its bottom
  };
  std::vector<Write> writes;
  size_t executed = 0;

  bool finished() const { return executed == writes.size(); }
};

class SimulatedDevice {
 public:
  explicit SimulatedDevice(CairnMode mode = CAIRN_MODE_FULL, uint32_t raw_marker_count = 0) {
    CairnContextDesc desc{};
    desc.struct_size = sizeof(desc);
    desc.mode = mode;
    desc.raw_marker_count = raw_marker_count;
    CairnCustomBackend backend{};
    backend.struct_size = sizeof(backend);
    backend.user_data = this;
    backend.allocate_block = &AllocateBlock;
    backend.free_block = &FreeBlock;
    backend.write = &Write;
    Must(cairnCreateContextCustom(&desc, &backend, &context_), "cairnCreateContextCustom");
    Must(cairnRegisterQueue(context_, queue(), CAIRN_QUEUE_DIRECT, "Graphics"),
         "cairnRegisterQueue");
  }

  CairnContext* context() const { return context_; }
  void* queue() { return &queue_; }

  // The GPU performs the next write of the list.
  void Step(SimulatedCommandList& list) {
    const SimulatedCommandList::Write& write = list.writes[list.executed++];
    reinterpret_cast<std::atomic<uint32_t>*>(write.address)->store(write.value);
  }
  void Execute(SimulatedCommandList& list, size_t write_count) {
    while (list.executed < write_count) Step(list);
  }
  void Finish(SimulatedCommandList& list) { Execute(list, list.writes.size()); }

 private:
  static constexpr std::align_val_t kAlignment{64};

  static CairnResult AllocateBlock(void*, uint64_t size_bytes, CairnCustomBlock* block) {
    block->memory = ::operator new(size_bytes, kAlignment, std::nothrow);
    block->buffer = nullptr;
    block->base_address = reinterpret_cast<uint64_t>(block->memory);
    return block->memory == nullptr ? CAIRN_ERROR_OUT_OF_MEMORY : CAIRN_OK;
  }
  static void FreeBlock(void*, CairnCustomBlock* block) {
    ::operator delete(block->memory, kAlignment);
  }
  static void Write(void*, void* list, uint32_t value, uint64_t location, void*, int is_begin) {
    static_cast<SimulatedCommandList*>(list)->writes.push_back({location, value, is_begin != 0});
  }

  CairnContext* context_ = nullptr;
  int queue_ = 0;
};

#endif  // CAIRN_TESTS_PROGRAMS_SIMULATED_DEVICE_H_
