// SPDX-License-Identifier: Apache-2.0
//
// The objects, addresses and descriptors that a recorded call refers to.
#ifndef CAIRN_FORMAT_MODEL_CALL_VALUES_H_
#define CAIRN_FORMAT_MODEL_CALL_VALUES_H_

#include <cstdint>
#include <vector>

#include "format/calls/record.h"
#include "format/calls/value_decoder.h"

namespace cairn {

struct CallValues {
  std::vector<uint64_t> objects;  // without the one that is called
  std::vector<uint64_t> gpu_addresses;
  std::vector<uint64_t> cpu_descriptors;
  std::vector<uint64_t> gpu_descriptors;
};

// Returns true if a call that returns an HRESULT succeeded; `result`: its kResult record.
bool Succeeded(const Record& result);

// Decodes calls one after the other, with the same memory. Those that need more than kMostBytes, which only
// uploads by the CPU do, cannot be decoded.
class CallValuesReader {
 public:
  // Reads the values of a kCall record. `arguments`: if not null, receives the decoded arguments,
  // valid until the reader's next call. Returns false and leaves both empty if the record cannot be
  // decoded.
  bool Read(const Record& call, BlobSource* blobs, CallValues* values,
            DecodedCall* arguments = nullptr);
  // The arguments alone; empty if they cannot be decoded.
  DecodedCall Arguments(const Record& call, BlobSource* blobs);

 private:
  static constexpr uint64_t kMostBytes = uint64_t{64} << 20;
  Arena arena_{kMostBytes};
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_CALL_VALUES_H_
