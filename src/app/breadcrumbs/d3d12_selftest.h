// SPDX-License-Identifier: Apache-2.0
//
// Tries every way in which a Direct3D 12 device can write words, on queues of its own of every type,
// and judges by the values read back: a call that succeeds proves nothing, for translation layers
// have stubs that do.
#ifndef CAIRN_APP_BREADCRUMBS_D3D12_SELFTEST_H_
#define CAIRN_APP_BREADCRUMBS_D3D12_SELFTEST_H_

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/breadcrumbs/backend.h"
#include "app/breadcrumbs/d3d12_buffers.h"
#include "app/breadcrumbs/d3d12_drain.h"
#include "app/breadcrumbs/d3d12_submitter.h"
#include "app/breadcrumbs/driver_half.h"
#include "base/status.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// A healthy device answers within microseconds; software rasterisers need longer on busy machines, where a program that
// hung before may still run on all cores. Breadcrumbs that are given up are missed for the whole run.
inline constexpr std::chrono::milliseconds kD3D12SelfTestLimit(10'000);

inline constexpr uint32_t kUntouched = 0xA5A5A5A5;  // what a word holds until a write arrives

inline constexpr uint32_t kD3D12QueueTypes = 3;  // direct, compute, copy: QueueType's first values

struct D3D12SelfTestReport {
  // The best method of which both locations work, by QueueType; kNone where there is none.
  std::array<WriteMethod, kD3D12QueueTypes> methods{};
  // The methods that the Vulkan layer records instead (driver_half.h), for both locations; kNone
  // where it cannot, and where WriteBufferImmediate works, which the implementation itself keeps in
  // order.
  std::array<WriteMethod, kD3D12QueueTypes> driver_methods{};
  std::vector<SourceFinding> findings;  // for each method, location and queue type

  // Returns the method that a report names: of the first queue type that has one, the driver's
  // before its own.
  WriteMethod method() const;
};

// Runs all tests; some milliseconds. `limit`: the time that the device has for each submission; the first one that is
// not finished then ends the test. kDeviceLost if the device does not finish in time, anything else if it refuses the
// buffers that the tests need.
Result<D3D12SelfTestReport> RunD3D12SelfTest(ID3D12Device* device,
                                             std::chrono::milliseconds limit = kD3D12SelfTestLimit);

// The same, remembered: an adapter's first device is tested, and the result holds for all later
// ones of the process. `adapter` distinguishes adapters and implementations.
Result<D3D12SelfTestReport> SelfTestOfAdapter(ID3D12Device* device, const std::string& adapter);
// Returns the number of self-tests that were really run.
uint32_t D3D12SelfTestCount();

// Returns the result of the memory test of this adapter; nullopt before it ran.
std::optional<SourceFinding> MemoryTestOfAdapter(const std::string& adapter);
void RememberMemoryTest(const std::string& adapter, const SourceFinding& finding);

// Tests that a copy into the first word of `buffer` (state COPY_DEST) arrives at `memory`, which is
// 0 afterwards. Returns kPresent, kSilent or kFailed with the reason.
Result<SourceFinding> TestD3D12Memory(ID3D12Device* device, ID3D12Resource* buffer,
                                      std::byte* memory, const std::string& name);

// Tests the Vulkan layer's writes: fills in report->driver_methods and adds a finding for each
// method tried. RunD3D12SelfTest calls it after all other tests. kDeviceLost if the device does not
// finish in time.
Status TestDriverWrites(ID3D12Device* device, D3D12SelfTestReport* report);

// Returns the differences between devices of one adapter: if the layer drives the buffer's device,
// and its methods there. Part of the key of remembered self-tests.
std::string DriverMethodsOf(const DriverHalf& driver, const DriverBuffer& buffer);
// Another device may have been tested: methods that the buffer's device does not have are taken out of
// the report, all of them if the buffer is not known.
void DropMissingDriverMethods(const DriverHalf* driver, const DriverBuffer& buffer,
                              D3D12SelfTestReport* report);
// Returns true if a write to the first word of `buffer`, with the first of the layer's methods in
// the report, arrives at `memory`, which is unchanged afterwards. False without such a method, too.
// An error if the device does not finish in time: the GPU may still be writing then.
Result<bool> DriverWriteArrives(ID3D12Device* device, DriverHalf& driver,
                                const DriverBuffer& buffer, const D3D12SelfTestReport& report,
                                std::byte* memory);

D3D12_COMMAND_LIST_TYPE ListType(QueueType type);

// Records the write of a 32-bit value, without any preparation.
void RecordImmediate(ID3D12GraphicsCommandList2* list, PipeLocation where, uint64_t gpu_address,
                     uint32_t value);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D12_SELFTEST_H_
