// SPDX-License-Identifier: Apache-2.0
//
// Methods around which more happens than the tables of codegen/d3d11.toml can say.
#include "d3d11gen/by_hand.h"

#include <type_traits>

#include "app/d3d11/child_note.h"
#include "app/d3d11/policy.h"

namespace cairn::by_hand {
namespace {

template <typename Made>
HRESULT Deferred(ID3D11Device* self, HRESULT result, Made** made, D3D11Method method) {
  D3D11Device* const device = D3D11Device::Find(self);
  if (device == nullptr) return result;
  if (SUCCEEDED(result) && made != nullptr && *made != nullptr) device->NoteDeferred(*made);
  NoteResult(self, result, method);
  return result;
}

template <typename Call>
auto Submitting(ID3D11DeviceContext* self, bool submits, const Call& call) {
  D3D11Context* const context = D3D11Context::Find(self);
  if (context == nullptr) return call();
  if (submits) context->Submit();
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    context->Look();
  } else {
    const auto returned = call();
    context->Look();
    return returned;
  }
}

// Calls `note` with the context that an annotation or a context belongs to.
template <typename Note>
void Annotate(const void* self, const Note& note) {
  if (D3D11Context* const context = D3D11Context::Find(self)) note(*context);
}

}  // namespace

// ---- ID3D11Device --------------------------------------------------------------------------------

HRESULT ID3D11Device_CreateDeferredContext(HRESULT (*next)(ID3D11Device*, UINT,
                                                           ID3D11DeviceContext**),
                                           ID3D11Device* self, UINT flags,
                                           ID3D11DeviceContext** made) {
  return Deferred(self, next(self, flags, made), made,
                  D3D11Method::kID3D11Device_CreateDeferredContext);
}

HRESULT ID3D11Device1_CreateDeferredContext1(HRESULT (*next)(ID3D11Device1*, UINT,
                                                             ID3D11DeviceContext1**),
                                             ID3D11Device1* self, UINT flags,
                                             ID3D11DeviceContext1** made) {
  return Deferred(self, next(self, flags, made), made,
                  D3D11Method::kID3D11Device1_CreateDeferredContext1);
}

HRESULT ID3D11Device2_CreateDeferredContext2(HRESULT (*next)(ID3D11Device2*, UINT,
                                                             ID3D11DeviceContext2**),
                                             ID3D11Device2* self, UINT flags,
                                             ID3D11DeviceContext2** made) {
  return Deferred(self, next(self, flags, made), made,
                  D3D11Method::kID3D11Device2_CreateDeferredContext2);
}

HRESULT ID3D11Device3_CreateDeferredContext3(HRESULT (*next)(ID3D11Device3*, UINT,
                                                             ID3D11DeviceContext3**),
                                             ID3D11Device3* self, UINT flags,
                                             ID3D11DeviceContext3** made) {
  return Deferred(self, next(self, flags, made), made,
                  D3D11Method::kID3D11Device3_CreateDeferredContext3);
}

HRESULT ID3D11DeviceChild_SetPrivateData(HRESULT (*next)(ID3D11DeviceChild*, REFGUID, UINT,
                                                         const void*),
                                         ID3D11DeviceChild* self, REFGUID guid, UINT size_bytes,
                                         const void* data) {
  const HRESULT result = next(self, guid, size_bytes, data);
  if (SUCCEEDED(result)) NotePrivateData(self, guid, data, size_bytes);
  return result;
}

INT ID3D11Multithread_SetMultithreadProtected(INT (*next)(ID3D11Multithread*, INT),
                                              ID3D11Multithread* self, INT protect) {
  const INT before = next(self, protect);
  if (D3D11Device* const device = D3D11Device::FindByMultithread(self)) {
    device->SetProtected(protect != 0);
  }
  return before;
}

// ---- ID3D11DeviceContext -------------------------------------------------------------------------

void ID3D11DeviceContext_Flush(void (*next)(ID3D11DeviceContext*), ID3D11DeviceContext* self) {
  Submitting(self, true, [&] { next(self); });
}

void ID3D11DeviceContext3_Flush1(void (*next)(ID3D11DeviceContext3*, D3D11_CONTEXT_TYPE, HANDLE),
                                 ID3D11DeviceContext3* self, D3D11_CONTEXT_TYPE type,
                                 HANDLE event) {
  Submitting(self, true, [&] { next(self, type, event); });
}

HRESULT ID3D11DeviceContext_Map(HRESULT (*next)(ID3D11DeviceContext*, ID3D11Resource*, UINT,
                                                D3D11_MAP, UINT, D3D11_MAPPED_SUBRESOURCE*),
                                ID3D11DeviceContext* self, ID3D11Resource* resource,
                                UINT subresource, D3D11_MAP type, UINT flags,
                                D3D11_MAPPED_SUBRESOURCE* mapped) {
  const bool waits =
      type == D3D11_MAP_READ || type == D3D11_MAP_READ_WRITE || type == D3D11_MAP_WRITE;
  const auto map = [&] { return next(self, resource, subresource, type, flags, mapped); };
  const HRESULT result = waits ? Submitting(self, true, map) : map();
  NoteResult(self, result, D3D11Method::kID3D11DeviceContext_Map);
  return result;
}

HRESULT ID3D11DeviceContext_GetData(HRESULT (*next)(ID3D11DeviceContext*, ID3D11Asynchronous*,
                                                    void*, UINT, UINT),
                                    ID3D11DeviceContext* self, ID3D11Asynchronous* of, void* data,
                                    UINT size_bytes, UINT flags) {
  const bool submits = (flags & D3D11_ASYNC_GETDATA_DONOTFLUSH) == 0;
  const HRESULT result =
      Submitting(self, submits, [&] { return next(self, of, data, size_bytes, flags); });
  NoteResult(self, result, D3D11Method::kID3D11DeviceContext_GetData);
  return result;
}

void ID3D11DeviceContext_ClearState(void (*next)(ID3D11DeviceContext*), ID3D11DeviceContext* self) {
  next(self);
  if (D3D11Context* const context = D3D11Context::Find(self)) context->ForgetShaders();
}

// The shaders of the other state are unknown: only those set from now on are known.
void ID3D11DeviceContext1_SwapDeviceContextState(
    void (*next)(ID3D11DeviceContext1*, ID3DDeviceContextState*, ID3DDeviceContextState**),
    ID3D11DeviceContext1* self, ID3DDeviceContextState* state, ID3DDeviceContextState** before) {
  next(self, state, before);
  if (D3D11Context* const context = D3D11Context::Find(self)) context->ForgetShaders();
}

HRESULT ID3D11DeviceContext_FinishCommandList(HRESULT (*next)(ID3D11DeviceContext*, WINBOOL,
                                                              ID3D11CommandList**),
                                              ID3D11DeviceContext* self, WINBOOL restore,
                                              ID3D11CommandList** made) {
  D3D11Context* const context = D3D11Context::Find(self);
  if (context == nullptr) return next(self, restore, made);
  CommandList* const recording = context->Finish();
  const HRESULT result = next(self, restore, made);
  if (!restore) context->ForgetShaders();
  context->device().NoteFinished(SUCCEEDED(result) && made != nullptr ? *made : nullptr, recording);
  NoteResult(self, result, D3D11Method::kID3D11DeviceContext_FinishCommandList);
  return result;
}

void ID3D11DeviceContext_ExecuteCommandList(void (*next)(ID3D11DeviceContext*, ID3D11CommandList*,
                                                         WINBOOL),
                                            ID3D11DeviceContext* self, ID3D11CommandList* list,
                                            WINBOOL restore) {
  D3D11Context* const context = D3D11Context::Find(self);
  if (context == nullptr) return next(self, list, restore);
  const ChildNote* const note = ChildNote::Find(list);
  context->BeginExecute(note == nullptr ? nullptr : note->recording());
  next(self, list, restore);
  context->EndExecute();
  if (!restore) context->ForgetShaders();
}

// ---- Annotations ---------------------------------------------------------------------------------

INT ID3DUserDefinedAnnotation_BeginEvent(INT (*next)(ID3DUserDefinedAnnotation*, LPCWSTR),
                                         ID3DUserDefinedAnnotation* self, LPCWSTR name) {
  Annotate(self, [&](D3D11Context& context) { context.BeginEvent(name); });
  return next(self, name);
}

INT ID3DUserDefinedAnnotation_EndEvent(INT (*next)(ID3DUserDefinedAnnotation*),
                                       ID3DUserDefinedAnnotation* self) {
  Annotate(self, [](D3D11Context& context) { context.EndEvent(); });
  return next(self);
}

void ID3DUserDefinedAnnotation_SetMarker(void (*next)(ID3DUserDefinedAnnotation*, LPCWSTR),
                                         ID3DUserDefinedAnnotation* self, LPCWSTR name) {
  Annotate(self, [&](D3D11Context& context) { context.SetMarker(name); });
  next(self, name);
}

void ID3D11DeviceContext2_SetMarkerInt(void (*next)(ID3D11DeviceContext2*, LPCWSTR, INT),
                                       ID3D11DeviceContext2* self, LPCWSTR name, INT data) {
  Annotate(self, [&](D3D11Context& context) { context.SetMarker(name); });
  next(self, name, data);
}

void ID3D11DeviceContext2_BeginEventInt(void (*next)(ID3D11DeviceContext2*, LPCWSTR, INT),
                                        ID3D11DeviceContext2* self, LPCWSTR name, INT data) {
  Annotate(self, [&](D3D11Context& context) { context.BeginEvent(name); });
  next(self, name, data);
}

void ID3D11DeviceContext2_EndEvent(void (*next)(ID3D11DeviceContext2*),
                                   ID3D11DeviceContext2* self) {
  Annotate(self, [](D3D11Context& context) { context.EndEvent(); });
  next(self);
}

}  // namespace cairn::by_hand
