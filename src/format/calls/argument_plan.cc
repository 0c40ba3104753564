// SPDX-License-Identifier: Apache-2.0
#include "format/calls/argument_plan.h"

#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>

#include "format/calls/value_decoder_internal.h"

namespace cairn {
namespace {

// Returns true if a value is not as it was recorded, or has something behind it, for a visitor or for others.
bool NeedsFilling(const ValueInfo& value, bool visited) {
  const StructInfo* const type = StructOf(value);
  if (type != nullptr) return visited ? !type->is_universal : !type->is_flat;
  return visited && IsVisited(value.kind);
}

// False: it needs the walk.
bool MakeStep(const MethodInfo& method, size_t index, ArgumentStep* step) {
  const ParameterInfo& parameter = method.parameters[index];
  const Shape shape = ShapeOf(method, index);
  const bool is_text =
      parameter.kind == ValueKind::kString || parameter.kind == ValueKind::kWideString;
  step->bytes = ElementBytes(shape == Shape::kInline ? Shape::kArray : shape, parameter);
  step->place_bytes = static_cast<uint32_t>(ArgumentBytes(parameter));
  step->is_visited = NeedsFilling(parameter, /*visited=*/true);
  if (NeedsFilling(parameter, /*visited=*/false) || step->bytes > kMaxInlineBytes) return false;
  if (shape == Shape::kInline) return true;
  step->kind = ArgumentStep::Kind::kElements;
  if (parameter.direction == Direction::kOut || is_text || IsOpaque(parameter)) return false;
  step->is_bytes = shape == Shape::kBytes;
  if (step->is_bytes) step->is_visited = false;  // nothing is known of them
  return shape == Shape::kArray || (step->is_bytes && parameter.direction == Direction::kIn);
}

ArgumentCount CountOfParameter(const MethodInfo& method, size_t index, Shape shape) {
  using Source = ArgumentCount::Source;
  const ParameterInfo& parameter = method.parameters[index];
  ArgumentCount count;
  count.parameter = static_cast<uint8_t>(index);
  if (shape == Shape::kString || shape == Shape::kWideString || IsCallerCount(parameter)) {
    return count;
  }
  count.source = Source::kComputed;
  if (parameter.pointers == 0 || parameter.count.factor_count == 0) {
    count.source = Source::kConstant;
    count.value = parameter.pointers == 0 ? parameter.array_length : 1;
    return count;
  }
  const std::span<const CountFactor> factors(parameter.count.factors, parameter.count.factor_count);
  const bool is_number = factors[0].kind == CountFactor::Kind::kSibling &&
                         method.parameters[factors[0].value].size_bytes == sizeof(uint32_t);
  const bool is_times =
      factors.size() == 2 && factors[1].kind == CountFactor::Kind::kConstant &&
      factors[1].value <= std::numeric_limits<int32_t>::max();  // CountOf saturates above
  if (!is_number || (factors.size() == 2 && !is_times)) return count;
  count.source = Source::kNumber;
  count.value = factors[0].value;
  if (is_times) count.times = factors[1].value;
  return count;
}

// The largest places that CopyArguments() makes room for, so that a call costs an allocation.
constexpr size_t kMostCopied = kMaxInlineBytes;

constexpr size_t kMostParameters = 64;  // bits of CopyArguments()

// Copies a value, which has rarely more than 8 bytes.
void CopyValue(std::byte* place, const std::byte* recorded, uint32_t size_bytes) {
  if (size_bytes == 4) {
    std::memcpy(place, recorded, 4);
  } else if (size_bytes == 8) {
    std::memcpy(place, recorded, 8);
  } else {
    std::memcpy(place, recorded, size_bytes);
  }
}

// Returns true if the other arguments say the same.
bool Agrees(const ArgumentPlan& plan, const ArgumentCount& count, const DecodedCall& call) {
  using Source = ArgumentCount::Source;
  const uint64_t found = call.counts[count.parameter];
  switch (count.source) {
    case Source::kNone: return true;
    case Source::kConstant: return found == count.value;
    case Source::kNumber:
      return found == uint64_t{Load<uint32_t>(call.arguments[count.value])} * count.times;
    case Source::kComputed: break;
  }
  return found == CountOf(*plan.method, count.parameter, call.arguments.data(), false, 0);
}

}  // namespace

ArgumentPlan MakeArgumentPlan(const MethodInfo& method) {
  ArgumentPlan plan;
  plan.method = &method;
  if (method.parameters.size() > kMostParameters) return plan;
  for (size_t i = 0; i < method.parameters.size(); ++i) {
    ArgumentStep step;
    if (!MakeStep(method, i, &step)) return {.method = &method};
    const Shape shape = ShapeOf(method, i);
    if (shape != Shape::kInline) plan.counts.push_back(CountOfParameter(method, i, shape));
    plan.place_bytes += step.place_bytes;
    plan.is_visited = plan.is_visited || step.is_visited;
    plan.steps.push_back(step);
  }
  plan.is_copied = true;
  return plan;
}

const ArgumentPlan* FindArgumentPlan(const MethodInfo& method) {
  // Never freed: they live as long as the tables.
  static std::array<std::atomic<const ArgumentPlan*>, kMethodCount> plans;
  const auto first = reinterpret_cast<uintptr_t>(&Describe(static_cast<Method>(0)));
  const size_t index = (reinterpret_cast<uintptr_t>(&method) - first) / sizeof(MethodInfo);
  if (index >= kMethodCount) return nullptr;
  std::atomic<const ArgumentPlan*>& place = plans[index];
  const ArgumentPlan* known = place.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  auto made = std::make_unique<const ArgumentPlan>(MakeArgumentPlan(method));
  const bool is_first = place.compare_exchange_strong(known, made.get());
  return is_first ? made.release() : known;
}

bool CopyArguments(const ArgumentPlan& plan, std::span<const std::byte> body, Arena* arena,
                   DecodedCall* call) {
  if (body.size() > kMostCopied) return false;
  const size_t count = plan.steps.size();
  // Elements lie behind all places, each array aligned.
  const uint64_t most_bytes =
      plan.place_bytes + body.size() + plan.counts.size() * Arena::kAlignment;
  auto* place = static_cast<std::byte*>(arena->Allocate(most_bytes));
  if (place == nullptr) return false;
  std::byte* behind = place + plan.place_bytes;
  if (call->arguments.size() != count) call->arguments.resize(count);
  if (call->counts.size() != count) call->counts.resize(count);
  call->result = nullptr;
  // Not the vectors themselves: bytes that are written might be theirs, for all that the compiler knows.
  void** const arguments = call->arguments.data();
  uint64_t* const counts = call->counts.data();
  const ArgumentStep* const steps = plan.steps.data();
  uint64_t nulls = 0;
  const std::byte* next = body.data();
  const std::byte* const end = next + body.size();
  const auto left = [&] { return static_cast<size_t>(end - next); };
  for (size_t i = 0; i < count; ++i) {
    const ArgumentStep& step = steps[i];
    arguments[i] = place;
    counts[i] = 0;
    if (step.kind == ArgumentStep::Kind::kCopy) {
      const uint32_t bytes = step.bytes;
      if (bytes > left()) return false;
      CopyValue(place, next, bytes);
      next += bytes;
      place += step.place_bytes;
      continue;
    }
    if (sizeof(uint32_t) > left()) return false;
    const auto elements = Load<uint32_t>(next);
    next += sizeof(elements);
    if (elements == kNullBytes) {
      nulls |= uint64_t{1} << i;
    } else {
      const uint64_t bytes = uint64_t{elements} * step.bytes;
      if (step.is_bytes && elements == kBytesInBlobs) return false;
      if (bytes > kMaxInlineBytes || bytes > left()) return false;
      if (bytes != 0) std::memcpy(behind, next, bytes);
      next += bytes;
      Store(place, behind);
      behind += Arena::Aligned(bytes);
      counts[i] = elements;
    }
    place += step.place_bytes;
  }
  if (next != end) return false;
  for (const ArgumentCount& one : plan.counts) {
    if ((nulls >> one.parameter & 1) == 0 && !Agrees(plan, one, *call)) return false;
  }
  return true;
}

}  // namespace cairn
