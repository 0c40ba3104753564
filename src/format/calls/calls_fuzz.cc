// SPDX-License-Identifier: Apache-2.0
//
// Feeds the decoder arbitrary bodies of records. Input: u16 method, u8 options, the body. A decoded
// call must be printable, and encode to a body that decodes to the same text. Arguments that are copied by
// their method's plan must be those that the walk through the tables finds, errors included.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "format/calls/argument_plan.h"
#include "format/calls/call_builder.h"
#include "format/calls/value_decoder.h"
#include "format/calls/value_decoder_internal.h"
#include "format/calls/value_encoder.h"
#include "format/calls/value_printer.h"
#include "format/calls/value_shape.h"

namespace cairn {
namespace {

constexpr uint64_t kArenaLimitBytes = 16 << 20;

class OneBlob final : public BlobSource {
 public:
  Result<std::span<const std::byte>> Blob(uint64_t number) override {
    if (number > bytes_.size()) return Status(StatusCode::kNotFound, "no such blob");
    return std::span<const std::byte>(bytes_).first(number);
  }

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(8192);
};

class Touching final : public ValueVisitor {
 public:
  Status Object(Chain, uint64_t* place) override { return Touch(place); }
  Status GpuAddress(uint64_t* place) override { return Touch(place); }
  Status CpuDescriptor(uint64_t* place) override { return Touch(place); }
  Status GpuDescriptor(uint64_t* place) override { return Touch(place); }
  Status Handle(HandleKind, uint64_t* place) override { return Touch(place); }
  Status Callback(uint64_t* place) override { return Touch(place); }

 private:
  static Status Touch(uint64_t* place) {
    *place ^= 1;
    *place ^= 1;
    return {};
  }
};

void Check(bool holds) {
  if (!holds) std::abort();
}

// The bytes of blobs that an encoding made, by number.
class BuiltBlobs final : public BlobSource {
 public:
  explicit BuiltBlobs(std::vector<CallBuilder::Blob> blobs) : blobs_(std::move(blobs)) {}
  Result<std::span<const std::byte>> Blob(uint64_t number) override {
    for (const CallBuilder::Blob& blob : blobs_) {
      if (blob.number == number) {
        return std::span<const std::byte>(blob.body).subspan(sizeof(BlobBody));
      }
    }
    return Status(StatusCode::kNotFound, "no such blob");
  }

 private:
  std::vector<CallBuilder::Blob> blobs_;
};

void CheckWalk(const MethodInfo& method, std::span<const std::byte> body,
               const DecodeOptions& options, const Status& decoded, const DecodedCall& call) {
  if (!FindArgumentPlan(method)->is_copied) return;
  Arena arena(kArenaLimitBytes);
  DecodedCall walked;
  const Status status = ValueDecoder(body, options, &arena).Arguments(method, &walked);
  Check(status.code() == decoded.code() && status.message() == decoded.message());
  if (!status.ok()) return;
  Check(walked.counts == call.counts);
  Check(PrintArguments(method, walked, ValueNames(), true) ==
        PrintArguments(method, call, ValueNames(), true));
}

void CheckRoundTrip(const MethodInfo& method, const DecodedCall& call, const std::string& text) {
  EncodeContext context = {.object_number = [](const void* object, Chain) {
    return uint64_t{reinterpret_cast<uintptr_t>(object)};
  }};
  for (size_t i = 0; i < method.parameters.size(); ++i) {
    if (IsCallerCount(method.parameters[i])) context.caller_bytes = call.counts[i];
  }
  CallSink sink(1);
  Check(EncodeArguments(method, call.arguments.data(), context, &sink));
  BuiltBlobs blobs(sink.blobs());
  const std::vector<std::byte> body = sink.Take();
  DecodeOptions options;
  options.blobs = &blobs;
  Arena arena(4 * kArenaLimitBytes);
  DecodedCall again;
  Check(DecodeArguments(method, body, options, &arena, &again).ok());
  Check(PrintArguments(method, again, ValueNames(), true) == text);
}

}  // namespace
}  // namespace cairn

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cairn;
  if (size < 3) return 0;
  uint16_t method_number;
  std::memcpy(&method_number, data, sizeof(method_number));
  const uint8_t choice = data[2];
  const MethodInfo& method = Describe(static_cast<Method>(method_number % kMethodCount));
  const auto body = std::as_bytes(std::span(data + 3, size - 3));
  OneBlob blobs;
  Touching visitor;
  DecodeOptions options;
  options.blobs = (choice & 1) != 0 ? &blobs : nullptr;
  options.visitor = (choice & 2) != 0 ? &visitor : nullptr;
  options.refuse_unknown_parts = (choice & 4) != 0;
  options.drop_cached_pipelines = (choice & 8) != 0;
  Arena arena(kArenaLimitBytes);
  DecodedCall call;
  std::string json_text;
  JsonWriter json(&json_text, JsonWriter::kOneLine);
  if ((choice & 16) != 0) {
    if (!DecodeResults(method, body, options, &arena, &call).ok()) return 0;
    PrintResult(method, call, ValueNames(), true);
    WriteResult(method, call, ValueNames(), true, &json);
    Check(nlohmann::json::accept(json_text));
    return 0;
  }
  const Status decoded = DecodeArguments(method, body, options, &arena, &call);
  CheckWalk(method, body, options, decoded, call);
  if (!decoded.ok()) return 0;
  PrintArguments(method, call, ValueNames());
  const std::string text = PrintArguments(method, call, ValueNames(), true);
  WriteArguments(method, call, ValueNames(), true, &json);
  Check(nlohmann::json::accept(json_text));
  CheckRoundTrip(method, call, text);
  return 0;
}
