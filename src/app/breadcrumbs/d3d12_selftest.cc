// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d12_selftest.h"

#include <fmt/format.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constexpr uint32_t kLocationCount = 2;
constexpr WriteMethod kMethods[] = {WriteMethod::kD3D12WriteBufferImmediate,
                                    WriteMethod::kD3D12CopyBufferRegion};

const char* QueueName(QueueType type) {
  switch (type) {
    case QueueType::kDirect: return "direct queue";
    case QueueType::kCompute: return "compute queue";
    default: return "copy queue";
  }
}

std::string FindingName(WriteMethod method, PipeLocation where, QueueType queue) {
  const bool top = where == PipeLocation::kTop;
  if (method == WriteMethod::kD3D12WriteBufferImmediate) {
    return fmt::format("WriteBufferImmediate {}, {}", top ? "MARKER_IN" : "MARKER_OUT",
                       QueueName(queue));
  }
  return fmt::format("CopyBufferRegion {}, {}", top ? "top of pipe" : "bottom of pipe",
                     QueueName(queue));
}

// Judges the method by the value of a word that should hold `expected`.
void Judge(uint32_t found, uint32_t expected, SourceFinding* finding) {
  if (found == expected) {
    finding->state = SourceState::kPresent;
    finding->reason = fmt::format("0x{:08x} read back", found);
  } else if (found == kUntouched) {
    finding->state = SourceState::kSilent;
    finding->reason = "the call was executed and wrote nothing";
  } else {
    finding->state = SourceState::kFailed;
    finding->reason = fmt::format("0x{:08x} read back instead of 0x{:08x}", found, expected);
  }
}

uint32_t ReadWord(const std::byte* memory) {
  return reinterpret_cast<const std::atomic<uint32_t>*>(memory)->load(std::memory_order_acquire);
}

void StoreWord(std::byte* memory, uint32_t value) {
  reinterpret_cast<std::atomic<uint32_t>*>(memory)->store(value, std::memory_order_release);
}

// The tests on one queue type: word i belongs to location i.
class QueueTest {
 public:
  QueueTest(ID3D12Device* device, QueueType queue, std::chrono::milliseconds limit,
            D3D12SelfTestReport* report)
      : device_(device), queue_(queue), limit_(limit), report_(report) {}

  Status Run() {
    CAIRN_RETURN_IF_ERROR(CreateBuffers());
    Status created = submitter_.Create(device_, ListType(queue_));
    for (const WriteMethod method : kMethods) {
      if (!created.ok()) {
        Report(method, SourceState::kAbsent, created.message());
        continue;
      }
      CAIRN_RETURN_IF_ERROR(TestMethod(method));
    }
    return {};
  }

 private:
  Status CreateBuffers() {
    Result<D3D12MappedBuffer> words =
        CreateMappedBuffer(device_, MappedHeap::kReadback, kLocationCount * sizeof(uint32_t));
    if (!words.ok()) return words.status();
    words_ = std::move(*words);
    Result<D3D12MappedBuffer> values =
        CreateMappedBuffer(device_, MappedHeap::kUpload, kLocationCount * sizeof(uint32_t));
    if (!values.ok()) return values.status();
    values_ = std::move(*values);
    return drain_.Initialize(device_);
  }

  // The same state and reason for both locations.
  void Report(WriteMethod method, SourceState state, const std::string& reason) {
    for (const PipeLocation where : {PipeLocation::kTop, PipeLocation::kBottom}) {
      report_->findings.push_back({FindingName(method, where, queue_), state, reason});
    }
  }

  // Returns true if the device reports WriteBufferImmediate for this queue type.
  bool ListsImmediate() const {
    D3D12_FEATURE_DATA_D3D12_OPTIONS3 options = {};
    if (FAILED(device_->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS3, &options,
                                            sizeof(options)))) {
      return false;
    }
    return (options.WriteBufferImmediateSupportFlags & (1 << ListType(queue_))) != 0;
  }

  Status TestMethod(WriteMethod method) {
    // A method that the device does not list may be a stub that complains on stderr.
    if (method == WriteMethod::kD3D12WriteBufferImmediate && !ListsImmediate()) {
      report_->findings.push_back(
          {fmt::format("WriteBufferImmediate, {}", QueueName(queue_)), SourceState::kAbsent,
           "not tried: D3D12_FEATURE_D3D12_OPTIONS3 does not list this queue type"});
      return {};
    }
    Result<ID3D12GraphicsCommandList*> list = submitter_.Begin();
    Status status = list.status();
    if (status.ok()) status = Record(method, *list);
    if (status.ok()) status = submitter_.Submit();
    if (!status.ok()) {
      const bool missing = status.code() == StatusCode::kUnsupported;
      Report(method, missing ? SourceState::kAbsent : SourceState::kFailed, status.message());
      return {};
    }
    CAIRN_RETURN_IF_ERROR(submitter_.Wait(limit_));
    bool works = true;
    for (uint32_t i = 0; i < kLocationCount; ++i) {
      SourceFinding finding;
      finding.name = FindingName(method, static_cast<PipeLocation>(i), queue_);
      Judge(ReadWord(words_.memory + i * sizeof(uint32_t)), Expected(method, i), &finding);
      works = works && finding.state == SourceState::kPresent;
      report_->findings.push_back(std::move(finding));
    }
    WriteMethod& chosen = report_->methods[static_cast<uint32_t>(queue_)];
    if (works && chosen == WriteMethod::kNone) chosen = method;
    return {};
  }

  Status Record(WriteMethod method, ID3D12GraphicsCommandList* list) {
    for (uint32_t i = 0; i < kLocationCount; ++i) {
      StoreWord(words_.memory + i * sizeof(uint32_t), kUntouched);
      StoreWord(values_.memory + i * sizeof(uint32_t), Expected(method, i));
    }
    if (method == WriteMethod::kD3D12WriteBufferImmediate) {
      const auto list2 = ComPtr<ID3D12GraphicsCommandList>(list).As<ID3D12GraphicsCommandList2>();
      if (!list2) {
        // Closed without content, so that the next Begin() finds it as it expects.
        CAIRN_RETURN_IF_ERROR(StatusFromHresult(list->Close(), "ID3D12GraphicsCommandList::Close"));
        return {StatusCode::kUnsupported, "command lists have no ID3D12GraphicsCommandList2"};
      }
      for (uint32_t i = 0; i < kLocationCount; ++i) {
        RecordImmediate(list2.get(), static_cast<PipeLocation>(i),
                        words_.gpu_address + i * sizeof(uint32_t), Expected(method, i));
      }
      return {};
    }
    constexpr uint64_t kWord = sizeof(uint32_t);
    list->CopyBufferRegion(words_.resource.get(), 0, values_.resource.get(), 0, kWord);
    drain_.Prepare(list);
    drain_.Wait(list, submitter_.type());
    list->CopyBufferRegion(words_.resource.get(), kWord, values_.resource.get(), kWord, kWord);
    return {};
  }

  // Different for every write, so that no write can be taken for another.
  uint32_t Expected(WriteMethod method, uint32_t location) const {
    return 0xCA120000u + static_cast<uint32_t>(queue_) * 256u +
           static_cast<uint32_t>(method) * 16u + location;
  }

  ID3D12Device* const device_;
  const QueueType queue_;
  const std::chrono::milliseconds limit_;
  D3D12SelfTestReport* const report_;
  D3D12MappedBuffer words_;
  D3D12MappedBuffer values_;
  D3D12Drain drain_;
  D3D12Submitter submitter_;  // Last: destroyed first.
};

// Results of adapters; as few entries as the machine has adapters.
struct AdapterResults {
  std::mutex mutex;
  std::map<std::string, D3D12SelfTestReport> reports;
  std::map<std::string, SourceFinding> memory;
};
AdapterResults& Results() {
  static auto* const results = new AdapterResults;  // Never destroyed: used at exit, too.
  return *results;
}
std::atomic<uint32_t> self_test_count{0};

}  // namespace

D3D12_COMMAND_LIST_TYPE ListType(QueueType type) {
  switch (type) {
    case QueueType::kCompute: return D3D12_COMMAND_LIST_TYPE_COMPUTE;
    case QueueType::kCopy: return D3D12_COMMAND_LIST_TYPE_COPY;
    default: return D3D12_COMMAND_LIST_TYPE_DIRECT;
  }
}

void RecordImmediate(ID3D12GraphicsCommandList2* list, PipeLocation where, uint64_t gpu_address,
                     uint32_t value) {
  const D3D12_WRITEBUFFERIMMEDIATE_PARAMETER parameter = {gpu_address, value};
  const D3D12_WRITEBUFFERIMMEDIATE_MODE mode = where == PipeLocation::kTop
                                                   ? D3D12_WRITEBUFFERIMMEDIATE_MODE_MARKER_IN
                                                   : D3D12_WRITEBUFFERIMMEDIATE_MODE_MARKER_OUT;
  list->WriteBufferImmediate(1, &parameter, &mode);
}

WriteMethod D3D12SelfTestReport::method() const {
  for (uint32_t queue = 0; queue < kD3D12QueueTypes; ++queue) {
    if (driver_methods[queue] != WriteMethod::kNone) return driver_methods[queue];
    if (methods[queue] != WriteMethod::kNone) return methods[queue];
  }
  return WriteMethod::kNone;
}

Result<D3D12SelfTestReport> SelfTestOfAdapter(ID3D12Device* device, const std::string& adapter) {
  AdapterResults& results = Results();
  {
    std::lock_guard lock(results.mutex);
    if (const auto found = results.reports.find(adapter); found != results.reports.end()) {
      return found->second;
    }
  }
  Result<D3D12SelfTestReport> report = RunD3D12SelfTest(device);
  // A failure may concern this device alone, so that only success is remembered.
  if (report.ok() && report->method() != WriteMethod::kNone) {
    std::lock_guard lock(results.mutex);
    results.reports.emplace(adapter, *report);
  }
  return report;
}

uint32_t D3D12SelfTestCount() {
  return self_test_count.load();
}

std::optional<SourceFinding> MemoryTestOfAdapter(const std::string& adapter) {
  std::lock_guard lock(Results().mutex);
  const auto found = Results().memory.find(adapter);
  if (found == Results().memory.end()) return std::nullopt;
  return found->second;
}

void RememberMemoryTest(const std::string& adapter, const SourceFinding& finding) {
  std::lock_guard lock(Results().mutex);
  Results().memory.emplace(adapter, finding);
}

Result<D3D12SelfTestReport> RunD3D12SelfTest(ID3D12Device* device,
                                             std::chrono::milliseconds limit) {
  self_test_count.fetch_add(1);
  D3D12SelfTestReport report;
  for (const QueueType queue : {QueueType::kDirect, QueueType::kCompute, QueueType::kCopy}) {
    auto test = std::make_unique<QueueTest>(device, queue, limit, &report);
    Status status = test->Run();
    if (status.ok()) continue;
    // The GPU may still be using the buffers: they are left behind.
    if (status.code() == StatusCode::kDeviceLost) test.release();  // NOLINT: on purpose
    return status.WithContext(QueueName(queue));
  }
  if (Status status = TestDriverWrites(device, &report); !status.ok()) {
    return status.WithContext("writes through the Vulkan layer");
  }
  return report;
}

Result<SourceFinding> TestD3D12Memory(ID3D12Device* device, ID3D12Resource* buffer,
                                      std::byte* memory, const std::string& name) {
  constexpr uint32_t kExpected = 0xCA12F00D;
  SourceFinding finding;
  finding.name = name;
  Result<D3D12MappedBuffer> value =
      CreateMappedBuffer(device, MappedHeap::kUpload, sizeof(kExpected));
  if (!value.ok()) return value.status();
  StoreWord(value->memory, kExpected);
  StoreWord(memory, kUntouched);
  D3D12Submitter submitter;
  CAIRN_RETURN_IF_ERROR(submitter.Create(device, D3D12_COMMAND_LIST_TYPE_DIRECT));
  Result<ID3D12GraphicsCommandList*> list = submitter.Begin();
  if (!list.ok()) return list.status();
  (*list)->CopyBufferRegion(buffer, 0, value->resource.get(), 0, sizeof(kExpected));
  CAIRN_RETURN_IF_ERROR(submitter.Submit());
  if (Status status = submitter.Wait(kD3D12SelfTestLimit); !status.ok()) {
    value->resource.Detach();  // The GPU may still be reading it.
    return status;
  }
  Judge(ReadWord(memory), kExpected, &finding);
  StoreWord(memory, 0);
  return finding;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
