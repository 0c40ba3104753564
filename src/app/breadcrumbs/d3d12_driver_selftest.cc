// SPDX-License-Identifier: Apache-2.0
//
// The part of the self-test that asks the Vulkan layer for writes (driver_half.h).
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "app/breadcrumbs/d3d12_selftest.h"
#include "app/breadcrumbs/driver_half.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constexpr PipeLocation kLocations[] = {PipeLocation::kTop, PipeLocation::kBottom};
constexpr QueueType kQueues[] = {QueueType::kDirect, QueueType::kCompute, QueueType::kCopy};

const char* NameOf(WriteMethod method) {
  return method == WriteMethod::kDriverBufferMarker
             ? "VK_AMD_buffer_marker through the Vulkan layer"
             : "vkCmdFillBuffer through the Vulkan layer";
}

// Different for every write, so that no write can be taken for another.
uint32_t Expected(WriteMethod method, QueueType queue, size_t location) {
  return 0xCA130000u + static_cast<uint32_t>(method) * 256u + static_cast<uint32_t>(queue) * 16u +
         static_cast<uint32_t>(location);
}

// Tests a method on queues of every type, in one buffer: word i belongs to location i.
class DriverTest {
 public:
  DriverTest(ID3D12Device* device, DriverHalf& driver) : device_(device), driver_(driver) {}

  Status CreateWords() {
    constexpr size_t kBytes = std::size(kLocations) * sizeof(uint32_t);
    const ExpectedBufferScope expected(nullptr, kBytes);
    Result<D3D12MappedBuffer> words = CreateMappedBuffer(device_, MappedHeap::kReadback, kBytes);
    if (!words.ok()) return words.status();
    words_ = std::move(*words);
    buffer_ = expected.buffer();
    not_seen_ = expected.reason();
    return {};
  }

  // The GPU may still be writing.
  void Abandon() { words_.resource.Detach(); }

  // Notes which queue types it works on.
  Status Test(WriteMethod method, D3D12SelfTestReport* report) {
    SourceFinding finding;
    finding.name = NameOf(method);
    finding.reason = buffer_.known() ? driver_.WhyNot(buffer_, method) : not_seen_;
    if (finding.reason.empty()) {
      finding.state = SourceState::kPresent;
      for (const QueueType queue : kQueues) {
        CAIRN_RETURN_IF_ERROR(TestQueue(method, queue, report, &finding));
      }
      if (finding.state == SourceState::kPresent) {
        finding.reason = "both values read back on every type of queue";
      }
    }
    report->findings.push_back(std::move(finding));
    return {};
  }

 private:
  // Spoils `finding` if it does not work here.
  Status TestQueue(WriteMethod method, QueueType queue, D3D12SelfTestReport* report,
                   SourceFinding* finding) {
    WriteMethod& chosen = report->driver_methods[static_cast<size_t>(queue)];
    D3D12Submitter submitter;
    Status status = submitter.Create(device_, ListType(queue));
    if (status.ok()) status = Record(method, queue, submitter);
    if (status.ok()) status = submitter.Submit();
    if (!status.ok()) {
      Spoil(finding, SourceState::kFailed, queue, status.message());
      return {};
    }
    CAIRN_RETURN_IF_ERROR(submitter.Wait(kD3D12SelfTestLimit));
    for (size_t i = 0; i < std::size(kLocations); ++i) {
      const uint32_t found = Word(i).load(std::memory_order_acquire);
      const uint32_t expected = Expected(method, queue, i);
      if (found == expected) continue;
      const bool silent = found == kUntouched;
      Spoil(finding, silent ? SourceState::kSilent : SourceState::kFailed, queue,
            silent ? "the command was executed and wrote nothing"
                   : fmt::format("0x{:08x} read back instead of 0x{:08x}", found, expected));
      return {};
    }
    const bool has_better =
        report->methods[static_cast<size_t>(queue)] == WriteMethod::kD3D12WriteBufferImmediate;
    if (!has_better && chosen == WriteMethod::kNone) chosen = method;
    return {};
  }

  Status Record(WriteMethod method, QueueType queue, D3D12Submitter& submitter) {
    for (size_t i = 0; i < std::size(kLocations); ++i) {
      Word(i).store(kUntouched, std::memory_order_release);
    }
    const Result<ID3D12GraphicsCommandList*> list = submitter.Begin();
    if (!list.ok()) return list.status();
    for (size_t i = 0; i < std::size(kLocations); ++i) {
      const DriverWrite written =
          driver_.Write(submitter.driver_list(), buffer_, method, kLocations[i],
                        i * sizeof(uint32_t), Expected(method, queue, i));
      if (written == DriverWrite::kRecorded) continue;
      CAIRN_RETURN_IF_ERROR(
          StatusFromHresult((*list)->Close(), "ID3D12GraphicsCommandList::Close"));
      return {StatusCode::kUnsupported,
              "the implementation records elsewhere than in the command buffer that it began"};
    }
    return {};
  }

  std::atomic<uint32_t>& Word(size_t index) const {
    return *reinterpret_cast<std::atomic<uint32_t>*>(words_.memory + index * sizeof(uint32_t));
  }

  static void Spoil(SourceFinding* finding, SourceState state, QueueType queue,
                    const std::string& reason) {
    static constexpr const char* kNames[] = {"direct", "compute", "copy"};
    finding->reason += fmt::format("{}{} queue: {}", finding->reason.empty() ? "" : "; ",
                                   kNames[static_cast<size_t>(queue)], reason);
    finding->state = state;
  }

  ID3D12Device* const device_;
  DriverHalf& driver_;
  D3D12MappedBuffer words_;
  DriverBuffer buffer_;
  std::string not_seen_;
};

}  // namespace

Status TestDriverWrites(ID3D12Device* device, D3D12SelfTestReport* report) {
  DriverHalf* const driver = GetDriverHalf();
  if (driver == nullptr) {
    report->findings.push_back({"writes through the Vulkan layer", SourceState::kAbsent,
                                "VK_LAYER_CAIRN_breadcrumbs is not active"});
    return {};
  }
  DriverTest test(device, *driver);
  CAIRN_RETURN_IF_ERROR(test.CreateWords());
  for (const WriteMethod method :
       {WriteMethod::kDriverBufferMarker, WriteMethod::kDriverFillBuffer}) {
    if (Status status = test.Test(method, report); !status.ok()) {
      test.Abandon();
      return status;
    }
    // The next one is tried for those that this one left.
    if (report->findings.back().state == SourceState::kPresent) break;
  }
  return {};
}

std::string DriverMethodsOf(const DriverHalf& driver, const DriverBuffer& buffer) {
  if (!buffer.known()) return "not driven by the Vulkan layer";
  std::string text = "driven by the Vulkan layer";
  for (const WriteMethod method :
       {WriteMethod::kDriverBufferMarker, WriteMethod::kDriverFillBuffer}) {
    if (*driver.WhyNot(buffer, method) == 0) text += fmt::format(", {}", NameOf(method));
  }
  return text;
}

void DropMissingDriverMethods(const DriverHalf* driver, const DriverBuffer& buffer,
                              D3D12SelfTestReport* report) {
  for (WriteMethod& method : report->driver_methods) {
    if (method == WriteMethod::kNone) continue;
    if (driver == nullptr || !buffer.known() || *driver->WhyNot(buffer, method) != 0) {
      method = WriteMethod::kNone;
    }
  }
}

Result<bool> DriverWriteArrives(ID3D12Device* device, DriverHalf& driver,
                                const DriverBuffer& buffer, const D3D12SelfTestReport& report,
                                std::byte* memory) {
  constexpr uint32_t kExpected = 0xCA14F00D;
  const auto* const method =
      std::find_if(report.driver_methods.begin(), report.driver_methods.end(),
                   [](WriteMethod candidate) { return candidate != WriteMethod::kNone; });
  if (method == report.driver_methods.end()) return false;
  const auto queue = static_cast<QueueType>(method - report.driver_methods.begin());
  D3D12Submitter submitter;
  if (!submitter.Create(device, ListType(queue)).ok()) return false;
  const Result<ID3D12GraphicsCommandList*> list = submitter.Begin();
  if (!list.ok()) return false;
  auto& word = *reinterpret_cast<std::atomic<uint32_t>*>(memory);
  const uint32_t saved = word.exchange(kUntouched);
  const DriverWrite written =
      driver.Write(submitter.driver_list(), buffer, *method, PipeLocation::kTop, 0, kExpected);
  // Executed in either case: nothing is left open.
  Status status = submitter.Submit();
  if (status.ok()) status = submitter.Wait(kD3D12SelfTestLimit);
  const bool arrived = word.exchange(saved) == kExpected;
  if (!status.ok()) return status;
  return written == DriverWrite::kRecorded && arrived;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
