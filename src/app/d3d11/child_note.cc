// SPDX-License-Identifier: Apache-2.0
#include "app/d3d11/child_note.h"

#include <new>
#include <utility>

#include "app/breadcrumbs/context.h"
#include "app/d3d11/device.h"
#include "app/d3d11/device_context.h"
#include "app/d3d12/registry.h"

namespace cairn {
namespace {

Registry<ChildNote>& Children() {
  static auto& children = *new Registry<ChildNote>;
  return children;
}

}  // namespace

HRESULT PrivateNote::QueryInterface(REFIID riid, void** object) {
  if (object == nullptr) return E_POINTER;
  *object = IsEqualIID(riid, __uuidof(IUnknown)) ? this : nullptr;
  if (*object == nullptr) return E_NOINTERFACE;
  AddRef();
  return S_OK;
}

ULONG PrivateNote::Release() {
  const ULONG left = --references_;
  if (left == 0) delete this;
  return left;
}

DeviceNote::DeviceNote(std::unique_ptr<D3D11Device> device) : device_(std::move(device)) {}
DeviceNote::~DeviceNote() = default;

ChildNote::ChildNote(D3D11Device& device, D3D11Kind kind, const void* object,
                     const CreatedFacts& created)
    : device_(device), real_device_(device.real()), object_(object), block_(device.block()) {
  Children().Add(object, this);  // The only line that may throw.
  ObjectTable::Object facts;
  facts.kind = kD3D11Object | static_cast<uint32_t>(kind);
  facts.context = device.context().index();
  facts.handle = object;
  facts.size_bytes = created.size_bytes;
  facts.description = created.description;
  index_ = block_.objects().Add(facts);
}

// Runs on the thread on which the implementation releases the object, perhaps after its device.
ChildNote::~ChildNote() {
  Children().Remove(object_, this);
  if (shader_hash_ != 0) D3D11Device::ForgetShader(object_);
  block_.objects().Destroy(index_);
  if (D3D11Device::Find(real_device_) != &device_) {
    static_cast<void>(context_.release());  // its notes ended with the device
    return;
  }
  context_.reset();
  if (recording_ == nullptr) return;
  try {
    static_cast<void>(device_.context().ReleaseCommandList(recording_).ok());
  } catch (const std::bad_alloc&) {
    // A slot stays used until the device ends.
  }
}

ChildNote* ChildNote::Find(const void* object) {
  return Children().Find(object);
}

void ChildNote::set_context(std::unique_ptr<D3D11Context> context) {
  context_ = std::move(context);
}

}  // namespace cairn
