// SPDX-License-Identifier: Apache-2.0
//
// Calls of wrappers, as a capture records them (app/capture/capture.h): arguments before the real call,
// results after it. Objects in them are the numbers of their wrappers.
//
// Threads: any. Without a capture none of this is called.
#ifndef CAIRN_APP_D3D12_CAPTURE_CALL_CAPTURE_H_
#define CAIRN_APP_D3D12_CAPTURE_CALL_CAPTURE_H_

#include <cstdint>
#include <mutex>

#include "app/capture/capture.h"
#include "app/d3d12/capture/creation.h"
#include "d3d12abi/d3d12_api.h"
#include "d3d12gen/chains.h"
#include "d3d12gen/methods.h"
#include "format/calls/value_encoder.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class Wrapper;

// `arguments[i]` points to parameter i. The number of the call; 0 if it is not recorded.
uint64_t BeginCapturedCall(const Wrapper& wrapper, Method method, const void* const* arguments);
// `result` points to what the method returned; null for void.
void EndCapturedCall(const Wrapper& wrapper, Method method, uint64_t call,
                     const void* const* arguments, const void* result);
// The call returned, and has no results.
void CapturedCallReturned(uint64_t call);

// Returns the address of an identifier; null if a program written in C passed null for the
// reference. (The compiler assumes that references are never null.)
inline const GUID* PointerTo(REFGUID identifier) {
  const GUID* pointer = &identifier;
  __asm__("" : "+r"(pointer));
  return pointer;
}

// An argument as it is handed on to the capture: identifiers by their place, all others by value.
struct CapturedIdentifier {
  const GUID* place;
};
template <typename T>
T AsCaptured(const T& argument) {
  return argument;
}
// A window is an int in the headers for Linux, and as wide as a pointer in a trace; of all others the lower
// half is taken.
inline int64_t AsCaptured(int value) {
  return value;
}
inline CapturedIdentifier AsCaptured(REFGUID identifier) {
  return {PointerTo(identifier)};
}
template <typename T>
const void* PlaceOf(const T& argument) {
  return &argument;
}
inline const void* PlaceOf(const CapturedIdentifier& identifier) {
  return identifier.place;
}

// Never inlined, and takes arguments by value: without a capture they stay in their registers.
template <typename... Arguments>
[[gnu::noinline]] uint64_t CaptureArguments(const Wrapper& wrapper, Method method,
                                            Arguments... arguments) {
  const void* const places[sizeof...(Arguments) + 1] = {PlaceOf(arguments)..., nullptr};
  return BeginCapturedCall(wrapper, method, places);
}

template <typename... Arguments>
[[gnu::noinline]] void CaptureResults(const Wrapper& wrapper, Method method, uint64_t call,
                                      const void* result, Arguments... arguments) {
  const void* const places[sizeof...(Arguments) + 1] = {PlaceOf(arguments)..., nullptr};
  EndCapturedCall(wrapper, method, call, places, result);
}

// Held over calls whose order decides what the GPU does: they are recorded in the order in which the
// implementation got them. One a queue, one a fence. Does nothing without a capture.
class CaptureLock {
 public:
  explicit CaptureLock(std::mutex& mutex) : capture_(Capture::Active()), mutex_(mutex) {
    if (capture_ != nullptr) [[unlikely]]
      mutex_.lock();
  }
  ~CaptureLock() {
    if (capture_ != nullptr) [[unlikely]]
      mutex_.unlock();
  }
  CaptureLock(const CaptureLock&) = delete;
  CaptureLock& operator=(const CaptureLock&) = delete;

  Capture* capture() const { return capture_; }

 private:
  Capture* const capture_;
  std::mutex& mutex_;
};

// The number behind a pointer that the application holds; kForeignObject if it is not one of ours.
uint64_t CaptureNumberOf(const void* object, Chain chain);

// Bytes of the heap behind a pointer that the application holds; 0 for null.
uint64_t BytesOfHeap(ID3D12Heap* heap);

// A wrapper became known. Its creator is the call that this thread is in.
void CaptureObject(const Wrapper& wrapper, const Creation& creation);
// Life of an object: CaptureObjectRests is called when its last reference is released and its real
// object still exists; the functions below when it gets a reference again, and when it ends.
void CaptureObjectRests(const Wrapper& wrapper);
void CaptureObjectWoken(const Wrapper& wrapper);
void CaptureObjectEnd(const Wrapper& wrapper);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_CAPTURE_CALL_CAPTURE_H_
