// SPDX-License-Identifier: Apache-2.0
//
// For tests: the records of a program's calls, on a real device with the layer. The setting is read once in a
// process, and a capture can be started once for a device: one program, looked at by several tests.
#ifndef CAIRN_APP_D3D12_CAPTURE_TESTING_RECORDED_PROGRAM_H_
#define CAIRN_APP_D3D12_CAPTURE_TESTING_RECORDED_PROGRAM_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "app/breadcrumbs/testing/d3d12_test_gpu.h"
#include "app/capture/testing/test_watcher.h"
#include "app/d3d12/layer.h"
#include "d3d12gen/methods.h"
#include "format/settings/layer_settings.h"
#include "os/environment.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class RecordedProgram {
 public:
  // `setting`: of CAIRN_CAPTURE.
  constexpr RecordedProgram(const char* setting, void (*run)(ID3D12Device* device))
      : setting_(setting), run_(run) {}

  // Runs the program when it is called first. In order of their numbers. One program a process.
  const std::vector<TestRecord>& records() const {
    static const std::vector<TestRecord>& records = *[this] {
      SetVariable(kVariableOf<&LayerSettings::capture>, setting_);
      TestWatcher watcher;
      ID3D12Device* const device = WrapDevice(TestDevice().Detach(), {});
      run_(device);
      device->Release();
      auto* const records = new std::vector<TestRecord>(watcher.Finish());
      unused_ = watcher.unused();
      return records;
    }();
    return records;
  }

  // The numbers that no record has. After records().
  uint64_t unused() const { return unused_; }

  // Returns the places in records() of this kind.
  std::vector<size_t> PlacesOf(RecordKind kind) const {
    std::vector<size_t> places;
    for (size_t i = 0; i < records().size(); ++i) {
      if (records()[i].header.kind == kind) places.push_back(i);
    }
    return places;
  }

  // Returns the places of the calls of a method.
  std::vector<size_t> CallsOf(Method method) const {
    std::vector<size_t> places = PlacesOf(RecordKind::kCall);
    std::erase_if(places, [&](size_t place) {
      return records()[place].header.method != static_cast<uint16_t>(method);
    });
    return places;
  }

  // Returns the recorded contents of subresource 0 of an object; nothing if a part of them is missing.
  std::vector<std::byte> ContentsOf(uint64_t object) const {
    std::vector<std::byte> contents;
    size_t recorded_bytes = 0;
    for (const size_t place : PlacesOf(RecordKind::kContents)) {
      const TestRecord& record = records()[place];
      if (record.header.object != object) continue;
      const auto body = record.As<ContentsBody>();
      contents.resize(body.total_bytes);
      const std::vector<std::byte> bytes =
          TestWatcher::Bytes(records(), record, sizeof(ContentsBody));
      if (body.offset_bytes + bytes.size() > contents.size()) return {};
      std::copy(bytes.begin(), bytes.end(),
                contents.begin() + static_cast<ptrdiff_t>(body.offset_bytes));
      recorded_bytes += bytes.size();
    }
    if (recorded_bytes != contents.size()) return {};
    return contents;
  }

 private:
  const char* const setting_;
  void (*const run_)(ID3D12Device* device);
  static inline uint64_t unused_ = 0;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_CAPTURE_TESTING_RECORDED_PROGRAM_H_
