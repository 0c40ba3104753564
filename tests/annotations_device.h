// SPDX-License-Identifier: Apache-2.0
//
// What the tests of annotations through Direct3D 12 share: wrapped devices of libvkd3d, and what a
// driver was told. The environment decides on the driver when the first device of a program is made;
// each of the programs annotations_*_test sets it as it needs it.
#ifndef CAIRN_TESTS_ANNOTATIONS_DEVICE_H_
#define CAIRN_TESTS_ANNOTATIONS_DEVICE_H_

// clang-format off
#include "app/annotations/d3d12_types.h"
// clang-format on

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/annotations/logging_driver.h"
#include "app/annotations/marker_arena.h"
#include "app/recorder/block_writer.h"
#include "d3d12abi/com_ptr.h"
#include "format/snapshot/marker_arena_reader.h"

namespace cairn::annotations_test {

inline constexpr auto kRuntimeOnly = D3D12_USER_DEFINED_ANNOTATION_MODE_RUNTIME_ONLY;
inline constexpr auto kDriverRetail = D3D12_USER_DEFINED_ANNOTATION_MODE_DRIVER_RETAIL;

// Sets the environment before anything else happens in the program: the driver, whose events keep what
// they carry (CAIRN_EVENTS), and folders without d3dconfig settings. For a variable of namespace scope.
struct Environment {
  explicit Environment(const char* driver, const char* events = "all");
};

// A device of libvkd3d as an application under the layer gets it.
ComPtr<ID3D12Device> CreateWrappedDevice();
ComPtr<ID3D12DeviceTools2> ToolsOf(const ComPtr<ID3D12Device>& device);
// Sets the mode, and expects that it succeeds.
void SetMode(const ComPtr<ID3D12Device>& device, D3D12_USER_DEFINED_ANNOTATION_MODE mode);

struct List {
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;  // open
};
List CreateList(const ComPtr<ID3D12Device>& device,
                D3D12_COMMAND_LIST_TYPE type = D3D12_COMMAND_LIST_TYPE_DIRECT);
ComPtr<ID3D12CommandQueue> CreateQueue(
    const ComPtr<ID3D12Device>& device,
    D3D12_COMMAND_LIST_TYPE type = D3D12_COMMAND_LIST_TYPE_DIRECT);
// Closes the list, executes it and waits for its end.
void Execute(const ComPtr<ID3D12Device>& device, const ComPtr<ID3D12CommandQueue>& queue,
             const ComPtr<ID3D12GraphicsCommandList>& list);

// A call of the driver as the logging driver saw it, with copies of what it was given.
struct Call {
  DriverFunction function;
  const void* native;
  uint32_t handle_type;
  uint32_t metadata;
  const void* data;
  uint32_t size;
  std::string bytes;
  uint64_t event_id;
  const void* name_pointer;
  std::optional<std::wstring> name;
};

// While it lives, it takes down what all logging drivers are told.
class RecordedCalls {
 public:
  RecordedCalls();
  ~RecordedCalls();
  RecordedCalls(const RecordedCalls&) = delete;
  RecordedCalls& operator=(const RecordedCalls&) = delete;

  // Returns the calls since the last Take().
  std::vector<Call> Take();

 private:
  static void Record(const DriverCall& call, void* user_data);
  std::mutex mutex_;
  std::vector<Call> calls_;
};

// The block that the layer writes in this process.
BlockWriter& ProcessBlock();
EventIdState ResolveInBlock(uint64_t event_id, KeptMarker* marker = nullptr);
std::string PayloadText(const KeptMarker& marker);

}  // namespace cairn::annotations_test

#endif  // CAIRN_TESTS_ANNOTATIONS_DEVICE_H_
