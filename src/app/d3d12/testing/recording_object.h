// SPDX-License-Identifier: Apache-2.0
//
// For tests: an object that has every method of every interface, and remembers with what it was called.
// Its table of methods is made of one function for each slot, so that no interface is written down here:
// what a slot means is in the tables (d3d12gen/methods.h).
#ifndef CAIRN_APP_D3D12_TESTING_RECORDING_OBJECT_H_
#define CAIRN_APP_D3D12_TESTING_RECORDING_OBJECT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "d3d12abi/d3d12_api.h"
#include "d3d12gen/interfaces.h"
#include "d3d12gen/methods.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class RecordingObject {
 public:
  explicit RecordingObject(Chain chain);

  // Returns the object as any interface.
  void* pointer() { return this; }

  // One call: the arguments that fit into 64 bits, as they came. Floats are not seen.
  struct Call {
    const RecordingObject* object;
    uint32_t slot;
    std::vector<uint64_t>
        arguments;  // without the object; the address of a result in memory comes first
  };

  // Returns the calls since the last TakeCalls().
  static std::vector<Call> TakeCalls();
  // Sets the 64-bit result of every method from now on; results in memory are filled with zeros.
  static void SetResult(uint64_t result);
  // While `device` is not null the calls of methods of ID3D12Device go there, and are not remembered.
  static void ForwardDevice(ID3D12Device* device);
  // Returns the index of parameter `index` in Call::arguments; -1 for floats.
  static int PlaceOf(const MethodInfo& method, size_t index);
  static bool ReturnsInMemory(const MethodInfo& method);

 private:
  friend struct Calls;
  [[maybe_unused]] const void* const* vtable_;  // read by who calls a method
  const Chain chain_;
  std::map<Chain, RecordingObject*> tear_offs_;  // live as long as the process
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_TESTING_RECORDING_OBJECT_H_
