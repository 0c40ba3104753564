// SPDX-License-Identifier: Apache-2.0
#include "format/calls/call_builder.h"

#include <algorithm>

#include "format/calls/value_shape.h"

namespace cairn {

// ---- CallSink ----

std::byte* CallSink::Grow(size_t bytes) {
  const size_t used = size_bytes();
  memory_.resize(std::max(memory_.size() * 2, used + bytes + 256));
  begin_ = memory_.data();
  next_ = begin_ + used + bytes;
  end_ = begin_ + memory_.size();
  return begin_ + used;
}

bool CallSink::PutBlob(const void* bytes, uint64_t size_bytes) {
  const auto* next = static_cast<const std::byte*>(bytes);
  const uint64_t parts = (size_bytes + kMaxBlobBytes - 1) / kMaxBlobBytes;
  constexpr size_t kFixed = sizeof(uint32_t) + sizeof(uint64_t) + sizeof(uint32_t);
  std::byte* room = Extend(kFixed + parts * sizeof(uint64_t));
  Store(room, kBytesInBlobs);
  Store(room + 4, size_bytes);
  Store(room + 12, static_cast<uint32_t>(parts));
  room += kFixed;
  for (uint64_t left = size_bytes; left != 0; room += sizeof(uint64_t)) {
    const auto part = static_cast<uint32_t>(std::min<uint64_t>(left, kMaxBlobBytes));
    const BlobBody header = {.size_bytes = part, .block_count = 0};
    CallBuilder::Blob blob = {.number = next_blob_++,
                              .body = std::vector<std::byte>(sizeof(header) + part)};
    Store(blob.body.data(), header);
    std::memcpy(blob.body.data() + sizeof(header), next, part);
    Store(room, blob.number);
    blobs_.push_back(std::move(blob));
    next += part;
    left -= part;
  }
  return true;
}

std::vector<std::byte> CallSink::Take() {
  memory_.resize(size_bytes());
  begin_ = next_ = end_ = nullptr;
  return std::move(memory_);
}

// ---- CallBuilder ----

CallBuilder::CallBuilder(uint64_t first_blob, uint32_t wchar_bytes)
    : next_blob_(first_blob), wchar_bytes_(wchar_bytes) {}

bool CallBuilder::Value::Fit(size_t size) {
  if (bytes.size() == size) return true;
  if (!is_integer) return false;
  bytes.resize(size, std::byte{is_negative ? uint8_t{0xFF} : uint8_t{0}});
  return true;
}

CallBuilder::Body CallBuilder::Build(Method method, const uint64_t* call, const Value* result,
                                     std::initializer_list<Value> arguments) {
  const MethodInfo& info = Describe(method);
  Body body;
  std::vector<Value> values(arguments);
  if (values.size() != info.parameters.size()) return body;
  std::vector<const void*> places;
  for (size_t i = 0; i < values.size(); ++i) {
    const Shape shape = ShapeOf(info, i);
    const bool is_pointer = shape != Shape::kInline;
    if (!values[i].Fit(is_pointer ? kPointerBytes : info.parameters[i].size_bytes)) return body;
    places.push_back(values[i].bytes.data());
  }
  const EncodeContext context = {
      .object_number = [](const void* object,
                          Chain) { return uint64_t{reinterpret_cast<uintptr_t>(object)}; },
      .wchar_bytes = wchar_bytes_,
      .caller_bytes = caller_bytes_};
  CallSink sink(next_blob_);
  if (call == nullptr) {
    body.ok = EncodeArguments(info, places.data(), context, &sink);
  } else {
    Value returned = *result;
    const bool is_pointer = info.result.pointers != 0;
    const bool is_void = info.result.size_bytes == 0;
    if (!is_void && !returned.Fit(is_pointer ? kPointerBytes : info.result.size_bytes)) return body;
    Store(sink.Extend(sizeof(ResultBody)), ResultBody{.call = *call});
    body.ok = EncodeResults(info, places.data(), is_void ? nullptr : returned.bytes.data(), context,
                            &sink);
  }
  next_blob_ = sink.next_blob();
  caller_bytes_ = 0;
  body.blobs = std::move(sink.blobs());
  body.bytes = sink.Take();
  return body;
}

}  // namespace cairn
