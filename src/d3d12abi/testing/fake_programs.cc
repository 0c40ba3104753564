// SPDX-License-Identifier: Apache-2.0
#include "d3d12abi/testing/fake_programs.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "d3d12abi/testing/fake_base.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

using Identifier = std::array<UINT64, 4>;

constexpr UINT kEntryPoints = 2;
constexpr UINT kRecordBytes = sizeof(uint32_t);
constexpr UINT kNone = ~0u;

struct FakeProgram {
  std::string name;
  bool is_work_graph = false;
};

// The programs whose state objects are there, with their devices. Any thread.
std::mutex programs_mutex;
std::map<Identifier, std::pair<ID3D12Device*, FakeProgram>>& Programs() {
  static auto& programs = *new std::map<Identifier, std::pair<ID3D12Device*, FakeProgram>>;
  return programs;
}
std::atomic<UINT64> last_serial{0};

// Aborts as an implementation dies that is given what it cannot have.
void Expect(bool fits) {
  if (!fits) std::abort();
}

template <typename T>
T ReadAt(D3D12_GPU_VIRTUAL_ADDRESS address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const std::byte*>(address), sizeof(value));
  return value;
}

template <typename T>
void WriteAt(D3D12_GPU_VIRTUAL_ADDRESS address, const T& value) {
  std::memcpy(reinterpret_cast<std::byte*>(address), &value, sizeof(value));
}

uint32_t SumOfRecords(UINT entry, UINT count, D3D12_GPU_VIRTUAL_ADDRESS records, UINT64 stride) {
  Expect(entry < kEntryPoints);
  uint32_t sum = 0;
  for (UINT i = 0; i < count; ++i) sum += ReadAt<uint32_t>(records + i * stride);
  return sum;
}

uint32_t SumOf(const D3D12_NODE_CPU_INPUT& input) {
  return SumOfRecords(input.EntrypointIndex, input.NumRecords,
                      reinterpret_cast<uintptr_t>(input.pRecords), input.RecordStrideInBytes);
}

uint32_t SumOf(const D3D12_NODE_GPU_INPUT& input) {
  return SumOfRecords(input.EntrypointIndex, input.NumRecords, input.Records.StartAddress,
                      input.Records.StrideInBytes);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

// IUnknown of a further interface of `Object`.
template <typename Interface, typename Object>
class Facet : public Interface {
 public:
  explicit Facet(Object* object) : object_(object) {}
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** result) override {
    return object_->QueryInterface(riid, result);
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return object_->AddRef(); }
  ULONG STDMETHODCALLTYPE Release() override { return object_->Release(); }

 protected:
  ~Facet() = default;
  Object* const object_;
};

class FakeStateObject final : public Fake<NoChild<ID3D12StateObject>, ID3D12StateObject> {
 public:
  FakeStateObject(ID3D12Device* device, std::vector<FakeProgram> programs)
      : Fake(device), serial_(++last_serial), names_(std::move(programs)) {
    const std::lock_guard lock(programs_mutex);
    for (UINT i = 0; i < names_.size(); ++i) Programs()[IdentifierOf(i)] = {device, names_[i]};
  }
  ~FakeStateObject() override {
    const std::lock_guard lock(programs_mutex);
    for (UINT i = 0; i < names_.size(); ++i) Programs().erase(IdentifierOf(i));
  }

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    if (IsSame(riid, __uuidof(ID3D12StateObjectProperties)) ||
        IsSame(riid, __uuidof(ID3D12StateObjectProperties1))) {
      AddRef();
      *object = &properties_;
      return S_OK;
    }
    if (IsSame(riid, __uuidof(ID3D12WorkGraphProperties))) {
      AddRef();
      *object = &graphs_;
      return S_OK;
    }
    return Fake::QueryInterface(riid, object);
  }

  UINT IndexOf(LPCWSTR name) const {
    const std::string wanted = NarrowName(name);
    const auto found = std::find_if(names_.begin(), names_.end(), [&](const FakeProgram& program) {
      return program.name == wanted;
    });
    return found == names_.end() ? kNone : static_cast<UINT>(found - names_.begin());
  }
  bool IsWorkGraph(UINT index) const {
    return index < names_.size() && names_[index].is_work_graph;
  }
  Identifier IdentifierOf(UINT index) const { return {index, serial_, 0xFA4E, ~serial_}; }

 private:
  class Properties final : public Facet<ID3D12StateObjectProperties1, FakeStateObject> {
   public:
    using Facet::Facet;
    void* STDMETHODCALLTYPE GetShaderIdentifier(LPCWSTR) override { return nullptr; }
    UINT64 STDMETHODCALLTYPE GetShaderStackSize(LPCWSTR) override { return 0; }
    UINT64 STDMETHODCALLTYPE GetPipelineStackSize() override { return 0; }
    void STDMETHODCALLTYPE SetPipelineStackSize(UINT64) override {}
    D3D12_PROGRAM_IDENTIFIER* STDMETHODCALLTYPE
    GetProgramIdentifier(D3D12_PROGRAM_IDENTIFIER* result, LPCWSTR name) override {
      *result = {};
      const UINT index = object_->IndexOf(name);
      if (index == kNone) return result;
      const Identifier identifier = object_->IdentifierOf(index);
      std::copy(identifier.begin(), identifier.end(), result->OpaqueData);
      return result;
    }
  };
  // The index of a work graph is that of its program.
  class Graphs final : public Facet<ID3D12WorkGraphProperties, FakeStateObject> {
   public:
    using Facet::Facet;
    UINT STDMETHODCALLTYPE GetNumWorkGraphs() override { return 0; }
    LPCWSTR STDMETHODCALLTYPE GetProgramName(UINT) override { return nullptr; }
    UINT STDMETHODCALLTYPE GetWorkGraphIndex(LPCWSTR name) override {
      const UINT index = object_->IndexOf(name);
      return object_->IsWorkGraph(index) ? index : kNone;
    }
    UINT STDMETHODCALLTYPE GetNumNodes(UINT) override { return 0; }
    D3D12_NODE_ID* STDMETHODCALLTYPE GetNodeID(D3D12_NODE_ID* result, UINT, UINT) override {
      *result = {};
      return result;
    }
    UINT STDMETHODCALLTYPE GetNodeIndex(UINT, D3D12_NODE_ID) override { return kNone; }
    UINT STDMETHODCALLTYPE GetNodeLocalRootArgumentsTableIndex(UINT, UINT) override {
      return kNone;
    }
    UINT STDMETHODCALLTYPE GetNumEntrypoints(UINT) override { return kEntryPoints; }
    D3D12_NODE_ID* STDMETHODCALLTYPE GetEntrypointID(D3D12_NODE_ID* result, UINT, UINT) override {
      *result = {};
      return result;
    }
    UINT STDMETHODCALLTYPE GetEntrypointIndex(UINT, D3D12_NODE_ID) override { return kNone; }
    UINT STDMETHODCALLTYPE GetEntrypointRecordSizeInBytes(UINT, UINT) override {
      return kRecordBytes;
    }
    void STDMETHODCALLTYPE GetWorkGraphMemoryRequirements(
        UINT, D3D12_WORK_GRAPH_MEMORY_REQUIREMENTS* requirements) override {
      *requirements = {kFakeGraphBytes, kFakeGraphBytes, 1};
    }
    UINT STDMETHODCALLTYPE GetEntrypointRecordAlignmentInBytes(UINT, UINT) override {
      return kRecordBytes;
    }
  };

  const UINT64 serial_;
  const std::vector<FakeProgram> names_;
  Properties properties_{this};
  Graphs graphs_{this};
};

#pragma GCC diagnostic pop

}  // namespace

HRESULT CreateFakeStateObject(ID3D12Device* device, const D3D12_STATE_OBJECT_DESC& desc,
                              REFIID riid, void** object) {
  std::vector<FakeProgram> programs;
  for (UINT i = 0; i < desc.NumSubobjects; ++i) {
    const D3D12_STATE_SUBOBJECT& part = desc.pSubobjects[i];
    uint32_t type = 0;  // later headers have values that this enumeration lacks
    std::memcpy(&type, &part.Type, sizeof(type));
    switch (type) {
      case static_cast<uint32_t>(D3D12_STATE_SUBOBJECT_TYPE_WORK_GRAPH): {
        const auto& graph = *static_cast<const D3D12_WORK_GRAPH_DESC*>(part.pDesc);
        programs.push_back({NarrowName(graph.ProgramName), true});
        break;
      }
      case static_cast<uint32_t>(D3D12_STATE_SUBOBJECT_TYPE_GENERIC_PROGRAM): {
        const auto& program = *static_cast<const D3D12_GENERIC_PROGRAM_DESC*>(part.pDesc);
        programs.push_back({NarrowName(program.ProgramName), false});
        break;
      }
      default: break;
    }
  }
  return GiveOut(new FakeStateObject(device, std::move(programs)), riid, object);
}

void FakePrograms::Set(ID3D12Device* device, const D3D12_SET_PROGRAM_DESC& desc,
                       FakeCommands* commands) {
  // Programs of all types begin with their identifier.
  std::copy_n(desc.WorkGraph.ProgramIdentifier.OpaqueData, program_.size(), program_.begin());
  {
    const std::lock_guard lock(programs_mutex);
    const auto found = Programs().find(program_);
    Expect(found != Programs().end() && found->second.first == device);
    Expect(found->second.second.is_work_graph == (desc.Type == D3D12_PROGRAM_TYPE_WORK_GRAPH));
  }
  graph_memory_ = 0;
  if (desc.Type != D3D12_PROGRAM_TYPE_WORK_GRAPH) return;
  Expect(desc.WorkGraph.BackingMemory.SizeInBytes >= kFakeGraphBytes);
  graph_memory_ = desc.WorkGraph.BackingMemory.StartAddress;
  if ((desc.WorkGraph.Flags & D3D12_SET_WORK_GRAPH_FLAG_INITIALIZE) == 0) return;
  commands->push_back([memory = graph_memory_, program = program_] { WriteAt(memory, program); });
}

void FakePrograms::Dispatch(FakeCommands* commands) {
  if (program_ == Identifier{} || graph_memory_ != 0) return;
  const auto place = static_cast<uint32_t>(program_[0]);
  commands->push_back([place, result = root_view_] { WriteAt(result, place); });
}

void FakePrograms::DispatchGraph(const D3D12_DISPATCH_GRAPH_DESC& desc, FakeCommands* commands) {
  Expect(graph_memory_ != 0);
  const auto run = [memory = graph_memory_, program = program_, result = root_view_](uint32_t sum) {
    Expect(ReadAt<Identifier>(memory) == program);  // or it was not initialised
    WriteAt(result, sum);
  };
  uint32_t sum = 0;
  switch (desc.Mode) {
    case D3D12_DISPATCH_MODE_NODE_CPU_INPUT: sum = SumOf(desc.NodeCPUInput); break;
    case D3D12_DISPATCH_MODE_MULTI_NODE_CPU_INPUT: {
      const D3D12_MULTI_NODE_CPU_INPUT& inputs = desc.MultiNodeCPUInput;
      for (UINT i = 0; i < inputs.NumNodeInputs; ++i) {
        sum += SumOf(ReadAt<D3D12_NODE_CPU_INPUT>(reinterpret_cast<uintptr_t>(inputs.pNodeInputs) +
                                                  i * inputs.NodeInputStrideInBytes));
      }
      break;
    }
    case D3D12_DISPATCH_MODE_NODE_GPU_INPUT:
      commands->push_back(
          [run, input = desc.NodeGPUInput] { run(SumOf(ReadAt<D3D12_NODE_GPU_INPUT>(input))); });
      return;
    case D3D12_DISPATCH_MODE_MULTI_NODE_GPU_INPUT:
      commands->push_back([run, input = desc.MultiNodeGPUInput] {
        const auto inputs = ReadAt<D3D12_MULTI_NODE_GPU_INPUT>(input);
        uint32_t all = 0;
        for (UINT i = 0; i < inputs.NumNodeInputs; ++i) {
          all += SumOf(ReadAt<D3D12_NODE_GPU_INPUT>(inputs.NodeInputs.StartAddress +
                                                    i * inputs.NodeInputs.StrideInBytes));
        }
        run(all);
      });
      return;
    default: std::abort();
  }
  commands->push_back([run, sum] { run(sum); });
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
