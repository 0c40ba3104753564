// SPDX-License-Identifier: Apache-2.0
//
// What every Direct3D 12 sample needs and none is about: device, queues, lists and pipelines, each
// with its name told to Cairn (d3d12_telling.h). Look here for where the calls go in a program.
//
// A sample ends with 0 when it did what it is for, with 1 after the device was lost or did not answer
// in time (Cairn has been told), with 2 and one line on stderr when it could not start, and with 77
// and such a line when the implementation lacks what it is about.
#ifndef CAIRN_SAMPLES_D3D12_DEVICE_H_
#define CAIRN_SAMPLES_D3D12_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include "d3d12_telling.h"
#include "d3d12abi/com_ptr.h"

namespace sample {

using cairn::ComPtr;

// Prints "PROGRAM: message" and ends the program with 2.
[[noreturn]] void Fail(const std::string& message);
void Check(HRESULT result, const char* what);
// Prints "PROGRAM: this implementation has no WHAT" and ends the program with 77, which tests take as
// skipped.
[[noreturn]] void Lack(const std::string& what);

// An interface of the object that came later than its own.
template <typename Interface>
ComPtr<Interface> Newer(IUnknown* object) {
  ComPtr<Interface> newer;
  Check(object->QueryInterface(__uuidof(Interface), newer.Receive()), "QueryInterface");
  return newer;
}

// The 32-bit words that so many bytes take.
constexpr uint32_t Words(uint64_t bytes) {
  return static_cast<uint32_t>((bytes + sizeof(uint32_t) - 1) / sizeof(uint32_t));
}

// A string for the implementation; `text` is ASCII. A WCHAR has two bytes but for libvkd3d, which takes those of wchar_t.
class Wide {
 public:
  explicit Wide(const char* text);
  const WCHAR* get() const { return reinterpret_cast<const WCHAR*>(text_.c_str()); }

 private:
#if defined(CAIRN_D3D12_SYSV_ABI)
  std::u16string text_;
#else
  std::wstring text_;
#endif
};

// ID3D12Object::SetName; `name` is ASCII.
void SetName(ID3D12Object* object, const char* name);

// A device of the adapter with this number, 0 being the machine's first. In a file named for the operating system.
ComPtr<ID3D12Device> CreateDevice(uint32_t adapter);

// Memory that both the CPU and shaders see. The GPU's writes are there once its queue has finished.
struct Buffer {
  ComPtr<ID3D12Resource> resource;
  uint32_t* words = nullptr;
  uint32_t word_count = 0;
};

// A device and its breadcrumbs.
class Gpu {
 public:
  // Lacks the shader model, if the device does.
  Gpu(const char* program, const Options& options,
      D3D_SHADER_MODEL shader_model = D3D_SHADER_MODEL_5_1, uint32_t adapter = 0);
  ~Gpu();  // After the GPU has finished with everything.
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  ID3D12Device* device() const { return device_.get(); }
  const Telling& telling() const { return *telling_; }

  Buffer CreateBuffer(uint32_t word_count);
  // Memory for the GPU to copy into.
  Buffer CreateReadbackBuffer(uint32_t word_count);
  // Memory for the CPU to write and the GPU to read.
  Buffer CreateUploadBuffer(uint32_t word_count);
  // Memory of the GPU alone, which shaders may write: `words` is null.
  Buffer CreateGpuBuffer(uint32_t word_count,
                         D3D12_RESOURCE_STATES state = D3D12_RESOURCE_STATE_COPY_DEST);

 private:
  ComPtr<ID3D12Device> device_;
  std::unique_ptr<Telling> telling_;
};

struct Shader {
  const char* name;
  const unsigned char* bytes;
  size_t size_bytes;
};

struct Pipeline {
  ComPtr<ID3D12RootSignature> root_signature;
  ComPtr<ID3D12PipelineState> state;
  Telling::Pipeline told = 0;
  bool compute = false;
};

// The way in which a compute shader accesses its buffer u0.
enum class Output {
  kRaw,    // by address: SetComputeRootUnorderedAccessView(1, ...)
  kTyped,  // by a view in a descriptor heap: SetComputeRootDescriptorTable(1, ...)
};

// Root parameter 0 holds the constants b0, parameter 1 the output of a compute pipeline; `output` is null for others.
ComPtr<ID3D12RootSignature> CreateRootSignature(ID3D12Device* device, uint32_t constant_count,
                                                const Output* output);
ComPtr<ID3D12RootSignature> CreateRootSignature(ID3D12Device* device,
                                                const D3D12_ROOT_SIGNATURE_DESC& desc);
Pipeline CreateComputePipeline(Gpu& gpu, const char* name, const Shader& shader,
                               uint32_t constant_count, Output output);
Pipeline CreateComputePipeline(Gpu& gpu, const char* name, const Shader& shader,
                               const ComPtr<ID3D12RootSignature>& signature);
Pipeline CreateGraphicsPipeline(Gpu& gpu, const char* name, const Shader& vertex,
                                const Shader& pixel, uint32_t constant_count);
Pipeline CreateGraphicsPipeline(Gpu& gpu, const char* name, const Shader& vertex,
                                const Shader& pixel, const ComPtr<ID3D12RootSignature>& signature);

// A heap for shaders with one view of the buffer, which claims so many 32-bit words of it: for a typed buffer.
ComPtr<ID3D12DescriptorHeap> CreateView(ID3D12Device* device, ID3D12Resource* buffer,
                                        uint32_t claimed_words);

class List;

class Queue {
 public:
  Queue(Gpu& gpu, CairnQueueType type, const char* name);

  // Executes the lists, in order.
  void Execute(std::initializer_list<List*> lists);
  // Everything executed so far has finished.
  bool Finished() const { return fence_->GetCompletedValue() >= submitted_; }
  // Waits until it has. A device that is lost, or not done after `timeout_s` seconds, is reported to
  // Cairn, and the program ends with 1. The last `but` executions are not waited for.
  void WaitOrReportLoss(double timeout_s, uint64_t but = 0) const;

  CairnQueueType type() const { return type_; }
  ID3D12CommandQueue* d3d12() const { return queue_.get(); }
  // Lets the event be set when everything executed so far has finished.
  void SetEvent(void* event) const;

 private:
  Gpu& gpu_;
  CairnQueueType type_;
  ComPtr<ID3D12CommandQueue> queue_;
  ComPtr<ID3D12Fence> fence_;
  uint64_t submitted_ = 0;
};

class List {
 public:
  // To be executed on `queue`; `name` is what reports call it.
  List(Gpu& gpu, const Queue& queue, const char* name);

  // Starts a recording. The GPU must have finished with the one before.
  void Begin();
  void End();

  void SetPipeline(const Pipeline& pipeline);
  // Waits between dispatches: what the one before wrote is there for the next.
  void Barrier();

  ID3D12GraphicsCommandList* operator->() const { return list_.get(); }
  ID3D12GraphicsCommandList* d3d12() const { return list_.get(); }
  const Gpu& gpu() const { return gpu_; }
  Telling::Recording told() const { return told_; }

 private:
  Gpu& gpu_;
  const Queue& queue_;
  const char* name_;
  ComPtr<ID3D12CommandAllocator> allocator_;
  ComPtr<ID3D12GraphicsCommandList> list_;
  Telling::Recording told_ = nullptr;
};

// A marker around the work recorded while it lives. `name` is a literal.
class Scope {
 public:
  Scope(const List& list, CairnMarkerType type, const char* name = nullptr);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const List& list_;
  bool told_;
};

// Waits for what the list did with the resource as `before`.
void Transition(const List& list, ID3D12Resource* resource, D3D12_RESOURCE_STATES before,
                D3D12_RESOURCE_STATES after);

// A picture of 8-bit RGBA that is drawn into and copied to the CPU.
class Picture {
 public:
  // `name` is what reports call the image. With the state UNORDERED_ACCESS it is one that shaders store into, by the only
  // descriptor of views(): then Begin() and Continue() are not for it.
  Picture(Gpu& gpu, uint32_t width, uint32_t height, const char* name = "Picture",
          D3D12_RESOURCE_STATES state = D3D12_RESOURCE_STATE_RENDER_TARGET);

  // The same with an image that the caller has made, of one subresource.
  Picture(Gpu& gpu, uint32_t width, uint32_t height, const ComPtr<ID3D12Resource>& image,
          D3D12_RESOURCE_STATES state = D3D12_RESOURCE_STATE_RENDER_TARGET);

  ID3D12DescriptorHeap* views() const { return views_.get(); }
  ID3D12Resource* image() const { return image_.get(); }

  // Makes it the list's only target, black.
  void Begin(const List& list);
  // The same, as it is.
  void Continue(const List& list);
  // Records the copy to the CPU, inside a marker; the last thing a list does with it.
  void CopyToCpu(const List& list);
  // The same of an image that can be copied from as it is.
  void CopyPixels(const List& list) const;
  // After that, if it is to be drawn into again.
  void Reuse(const List& list);

  // Valid once the copy was executed. Row by row, red in the lowest byte.
  uint32_t Pixel(uint32_t x, uint32_t y) const { return pixels_.words[y * row_words_ + x]; }
  // Returns "" or what went wrong.
  std::string WritePng(const std::string& path) const;

 private:
  uint32_t width_;
  uint32_t height_;
  uint32_t row_words_;
  D3D12_RESOURCE_STATES state_;  // while it is drawn into
  ComPtr<ID3D12Resource> image_;
  ComPtr<ID3D12DescriptorHeap> views_;
  Buffer pixels_;
};

}  // namespace sample

#endif  // CAIRN_SAMPLES_D3D12_DEVICE_H_
