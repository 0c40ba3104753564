// SPDX-License-Identifier: Apache-2.0
#include "format/model/call_values.h"

#include <cstring>
#include <utility>

#include "d3d12gen/methods.h"

namespace cairn {
namespace {

class Collector final : public ValueVisitor {
 public:
  explicit Collector(CallValues* values) : values_(*values) {}

  Status Object(Chain, uint64_t* place) override { return Note(*place, &values_.objects); }
  Status GpuAddress(uint64_t* place) override { return Note(*place, &values_.gpu_addresses); }
  Status CpuDescriptor(uint64_t* place) override { return Note(*place, &values_.cpu_descriptors); }
  Status GpuDescriptor(uint64_t* place) override { return Note(*place, &values_.gpu_descriptors); }

 private:
  static Status Note(uint64_t value, std::vector<uint64_t>* values) {
    if (value != 0) values->push_back(value);
    return Status();
  }

  CallValues& values_;
};

}  // namespace

bool Succeeded(const Record& result) {
  int32_t code = 0;
  if (result.body.size() < sizeof(ResultBody) + sizeof(code)) return false;
  std::memcpy(&code, result.body.data() + sizeof(ResultBody), sizeof(code));
  return code >= 0;
}

bool CallValuesReader::Read(const Record& call, BlobSource* blobs, CallValues* values,
                            DecodedCall* arguments) {
  values->objects.clear();
  values->gpu_addresses.clear();
  values->cpu_descriptors.clear();
  values->gpu_descriptors.clear();
  if (arguments != nullptr) *arguments = DecodedCall();
  if (call.method >= kMethodCount) return false;
  Collector collector(values);
  DecodeOptions options;
  options.visitor = &collector;
  options.blobs = blobs;
  DecodedCall decoded;
  arena_.Reset();
  const MethodInfo& method = Describe(static_cast<Method>(call.method));
  if (DecodeArguments(method, call.body, options, &arena_, &decoded).ok()) {
    if (arguments != nullptr) *arguments = std::move(decoded);
    return true;
  }
  *values = CallValues();
  return false;
}

DecodedCall CallValuesReader::Arguments(const Record& call, BlobSource* blobs) {
  DecodedCall decoded;
  if (call.method >= kMethodCount) return decoded;
  DecodeOptions options;
  options.blobs = blobs;
  arena_.Reset();
  const MethodInfo& method = Describe(static_cast<Method>(call.method));
  if (!DecodeArguments(method, call.body, options, &arena_, &decoded).ok()) decoded = DecodedCall();
  return decoded;
}

}  // namespace cairn
