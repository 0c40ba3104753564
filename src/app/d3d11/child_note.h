// SPDX-License-Identifier: Apache-2.0
//
// Notes about one object: they live as long as the object, which holds them as private data. So no
// code has to count references to notice the object's end.
#ifndef CAIRN_APP_D3D11_CHILD_NOTE_H_
#define CAIRN_APP_D3D11_CHILD_NOTE_H_

#include <d3d11_4.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "app/recorder/block_writer.h"

namespace cairn {

class D3D11Device;
class D3D11Context;
class CommandList;
struct CreatedFacts;

// Private data of ours. Ends with its object, or at once if that does not take it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"  // as all interfaces
class PrivateNote : public IUnknown {
 public:
  PrivateNote() = default;
  PrivateNote(const PrivateNote&) = delete;
  PrivateNote& operator=(const PrivateNote&) = delete;

  // Hands `note` over to `object`. Null if that does not want it.
  template <typename Object, typename Note>
  static Note* GiveTo(Object* object, Note* note) {
    if (note == nullptr) return nullptr;
    const HRESULT result = object->SetPrivateDataInterface(kId, note);
    note->Release();
    return SUCCEEDED(result) ? note : nullptr;
  }

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) final;
  ULONG STDMETHODCALLTYPE AddRef() final { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() final;

 protected:
  // Release() ends it.
  virtual ~PrivateNote() = default;

 private:
  static constexpr GUID kId = {
      0x7d1f02c8, 0x5be3, 0x4a0e, {0x9c, 0x41, 0x63, 0x61, 0x69, 0x72, 0x6e, 0x01}};
  std::atomic<ULONG> references_{1};
};
#pragma GCC diagnostic pop
// The note of a device, which owns the D3D11Device.
class DeviceNote final : public PrivateNote {
 public:
  explicit DeviceNote(std::unique_ptr<D3D11Device> device);

 private:
  ~DeviceNote() override;
  const std::unique_ptr<D3D11Device> device_;
};

// The note of a child of a device.
class ChildNote final : public PrivateNote {
 public:
  // Enters the object into the block's table.
  ChildNote(D3D11Device& device, D3D11Kind kind, const void* object, const CreatedFacts& created);

  // Null for objects that are not known.
  static ChildNote* Find(const void* object);

  uint32_t object_index() const { return index_; }
  // UTF-8; `cut`: there was more of it.
  void SetName(std::string_view name, bool cut) const {
    block_.objects().SetName(index_, name, cut);
  }
  uint64_t shader_hash() const { return shader_hash_; }
  void set_shader_hash(uint64_t hash) { shader_hash_ = hash; }
  // Sets the context that belongs to a deferred context.
  void set_context(std::unique_ptr<D3D11Context> context);
  // Sets the recording of a command list that a deferred context has finished; it is released with
  // the list.
  void set_recording(CommandList* recording) { recording_ = recording; }
  CommandList* recording() const { return recording_; }

 private:
  ~ChildNote() override;

  D3D11Device& device_;  // only while `real_device_` is known
  const void* const real_device_;
  const void* const object_;
  BlockWriter& block_;
  uint32_t index_ = ObjectTable::kNone;
  uint64_t shader_hash_ = 0;  // the first bytes of the one in its code
  std::unique_ptr<D3D11Context> context_;
  CommandList* recording_ = nullptr;
};

}  // namespace cairn

#endif  // CAIRN_APP_D3D11_CHILD_NOTE_H_
