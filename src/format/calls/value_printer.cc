// SPDX-License-Identifier: Apache-2.0
#include "format/calls/value_printer.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <string_view>

#include "base/result_name.h"
#include "base/text.h"
#include "d3d12gen/enums.h"
#include "d3d12gen/interfaces.h"
#include "format/calls/special_values.h"
#include "format/calls/value_shape.h"

namespace cairn {
namespace {

std::string Utf8(const void* characters) {
  WideText wide;
  wide.characters = characters;
  std::string text;
  size_t units = 0;
  while (Load<uint16_t>(static_cast<const std::byte*>(characters) + units * 2) != 0) ++units;
  text.resize(units * 3);
  text.resize(WriteUtf8(wide, text).text.size());
  return text;
}

class Printer {
 public:
  Printer(const ValueNames& names, ValueOutput* out) : names_(names), out_(*out) {}

  void Argument(const MethodInfo& method, const DecodedCall& call, size_t index) {
    const ParameterInfo& parameter = method.parameters[index];
    const Shape shape = ShapeOf(method, index);
    const auto* const place = static_cast<const std::byte*>(call.arguments[index]);
    out_.Key(parameter.name);
    const bool is_pointer = shape != Shape::kInline && shape != Shape::kAddress;
    if (parameter.direction == Direction::kOut && is_pointer) {
      // The content before the call is undefined.
      Load<const void*>(place) == nullptr ? out_.Null() : out_.Word("out");
      return;
    }
    const auto* const target = is_pointer ? Load<const std::byte*>(place) : nullptr;
    // Read as bytes, its pointers would be those of this process, others in every run.
    const StructInfo* const feature = FeatureStruct(method, index, call.arguments.data());
    if (feature != nullptr && target != nullptr && call.counts[index] == feature->size_bytes) {
      return Members(*feature, target);
    }
    Shaped(parameter, shape, place, call.counts[index]);
  }

  void Output(const MethodInfo& method, const DecodedCall& call, size_t index) {
    const ParameterInfo& parameter = method.parameters[index];
    out_.Key(parameter.name);
    Shaped(parameter, ShapeOf(method, index), static_cast<const std::byte*>(call.arguments[index]),
           call.counts[index]);
  }

  void MethodResult(const ValueInfo& result, const void* place) {
    if (std::string_view(result.type) == "HRESULT")
      return out_.Word(ResultCodeName(Load<uint32_t>(place)));
    const Shape shape = ShapeOf(result);
    const uint64_t count = shape == Shape::kBytes ? result.count.factors[0].value : 1;
    Shaped(result, shape, static_cast<const std::byte*>(place), count);
  }

  // A value of any shape; `place` is where its inline part is.
  void Shaped(const ValueInfo& value, Shape shape, const std::byte* place, uint64_t count) {
    if (shape == Shape::kInline) return Inline(value, place);
    const auto* const target = Load<const std::byte*>(place);
    if (target == nullptr) return out_.Null();
    switch (shape) {
      case Shape::kInline: return;
      case Shape::kString: return out_.Text(reinterpret_cast<const char*>(target));
      case Shape::kWideString: return out_.Text(Utf8(target));
      case Shape::kAddress: return Number("pointer", reinterpret_cast<uintptr_t>(target));
      case Shape::kBytes: return out_.Bytes({target, static_cast<size_t>(count)});
      case Shape::kObjectCell: return Object(Load<uint64_t>(target));
      case Shape::kAddressCell: return Number("pointer", Load<uint64_t>(target));
      case Shape::kArray:
      case Shape::kPointers: return Array(value, shape, target, count);
    }
  }

  void Inline(const ValueInfo& value, const std::byte* place) {
    switch (value.kind) {
      case ValueKind::kBool: return out_.Bool(Load<uint32_t>(place) != 0);
      case ValueKind::kUnsigned: return out_.Unsigned(LoadUnsigned(place, value.size_bytes));
      case ValueKind::kSigned: return Signed(place, value.size_bytes);
      case ValueKind::kFloat:
        return value.size_bytes == 4 ? out_.Float(Load<float>(place), true)
                                     : out_.Float(Load<double>(place), false);
      case ValueKind::kEnum: return Enumerator(value, Load<uint32_t>(place));
      case ValueKind::kFlags:
        return out_.Word(FlagNames(Enums()[value.type_index], Load<uint32_t>(place)));
      case ValueKind::kStruct: return Struct(value, place);
      case ValueKind::kObject: return Object(Load<uint64_t>(place));
      case ValueKind::kGuid: return Guid(Load<InterfaceGuid>(place));
      case ValueKind::kHandle: return Number("handle", Load<uint64_t>(place));
      case ValueKind::kCallback: return Number("pointer", Load<uint64_t>(place));
      case ValueKind::kGpuAddress: {
        const auto address = Load<uint64_t>(place);
        return out_.Reference("address", address, address == 0 ? "" : names_.GpuAddress(address));
      }
      case ValueKind::kCpuDescriptor: {
        const auto handle = Load<uint64_t>(place);
        return out_.Reference("descriptor", handle,
                              handle == 0 ? "" : names_.CpuDescriptor(handle));
      }
      case ValueKind::kGpuDescriptor: {
        const auto handle = Load<uint64_t>(place);
        return out_.Reference("descriptor", handle,
                              handle == 0 ? "" : names_.GpuDescriptor(handle));
      }
      case ValueKind::kString:
      case ValueKind::kWideString:
      case ValueKind::kBytes: return out_.Bytes({place, value.size_bytes});
    }
  }

 private:
  void Number(std::string_view kind, uint64_t number) {
    number == 0 ? out_.Null() : out_.Reference(kind, number, "");
  }

  void Object(uint64_t number) {
    if (number == kNoObject) return out_.Null();
    out_.Reference("object", number,
                   number == kForeignObject ? "an object of another kind" : names_.Object(number));
  }

  void Signed(const std::byte* place, uint32_t size_bytes) {
    const unsigned unused = 64 - 8 * size_bytes;
    out_.Signed(static_cast<int64_t>(LoadUnsigned(place, size_bytes) << unused) >> unused);
  }

  void Enumerator(const ValueInfo& value, uint32_t number) {
    const char* const name = EnumeratorName(Enums()[value.type_index], number);
    name != nullptr ? out_.Word(name) : out_.Unsigned(number);
  }

  void Guid(const InterfaceGuid& guid) {
    if (const InterfaceInfo* const known = FindInterface(guid)) return out_.Word(known->name);
    const uint8_t* const d = guid.data4;
    out_.Word(fmt::format(
        "{{{:08x}-{:04x}-{:04x}-{:02x}{:02x}-{:02x}{:02x}{:02x}{:02x}{:02x}{:02x}}}", guid.data1,
        guid.data2, guid.data3, d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]));
  }

  void Array(const ValueInfo& value, Shape shape, const std::byte* elements, uint64_t count) {
    const uint32_t stride = ElementBytes(shape, value);
    const bool is_text = value.kind == ValueKind::kString || value.kind == ValueKind::kWideString;
    // A single struct is printed without brackets.
    if (count == 1 && value.count.factor_count == 0 && shape == Shape::kArray && !is_text) {
      return Inline(value, elements);
    }
    Elements(elements, stride, count, [&](const std::byte* element) {
      if (is_text) {
        Shaped(value, value.kind == ValueKind::kString ? Shape::kString : Shape::kWideString,
               element, 1);
      } else if (shape == Shape::kPointers) {
        const auto* const target = Load<const std::byte*>(element);
        target == nullptr ? out_.Null() : Inline(value, target);
      } else {
        Inline(value, element);
      }
    });
  }

  template <typename Put>
  void Elements(const std::byte* elements, size_t stride, uint64_t count, Put put) {
    out_.BeginArray();
    for (uint64_t i = 0; i < count; ++i) {
      const std::byte* const element = elements + i * stride;
      // Equal bytes print equally: repeat the text of the element before.
      if (i != 0 && std::memcmp(element, element - stride, stride) == 0 && out_.RepeatElement()) {
        continue;
      }
      if (!out_.BeginElement()) {
        out_.LeftOut(count - i);
        break;
      }
      put(element);
      out_.EndElement();
    }
    out_.EndArray();
  }

  void Struct(const ValueInfo& value, const std::byte* place) {
    const StructInfo* const type = StructOf(value);
    if (type == nullptr) {
      if (value.size_bytes == 16 &&
          std::string_view(value.type).find("RECT") != std::string_view::npos) {
        return Rectangle(place);
      }
      return out_.Bytes({place, value.size_bytes});
    }
    Members(*type, place);
  }

  void Members(const StructInfo& type, const std::byte* place) {
    out_.BeginStruct();
    if (type.special == SpecialStruct::kPipelineStream) {
      PipelineStream(place);
    } else if (type.special == SpecialStruct::kStateObject) {
      StateObject(type, place);
    } else {
      for (const FieldInfo& field : type.fields) Field(type, field, place);
    }
    out_.EndStruct();
  }

  // RECT is a struct of the operating system, in no table.
  void Rectangle(const std::byte* place) {
    out_.BeginStruct();
    constexpr const char* kSides[] = {"left", "top", "right", "bottom"};
    for (size_t i = 0; i < 4; ++i) {
      out_.Key(kSides[i]);
      out_.Signed(Load<int32_t>(place + i * sizeof(int32_t)));
    }
    out_.EndStruct();
  }

  void Field(const StructInfo& type, const FieldInfo& field, const std::byte* place) {
    if (!IsMeant(type, field, place)) {
      // Without a rule that selects the member, print all members that are no pointers.
      const bool is_open = type.union_rule == UnionRule::kNone && !NeedsWork(field);
      if (!is_open) return;
    }
    out_.Key(field.name);
    const std::byte* const at = place + field.offset_bytes;
    const Shape shape = ShapeOf(field);
    if (field.bit_count != 0) return Bits(field, at);
    if (shape != Shape::kInline) return Shaped(field, shape, at, CountOf(type, field, place));
    if (field.array_length == 1) return Inline(field, at);
    if (field.kind == ValueKind::kUnsigned && field.size_bytes == 1) {
      return out_.Bytes({at, field.array_length});
    }
    const uint32_t stride = field.kind == ValueKind::kObject ? kPointerBytes : field.size_bytes;
    Elements(at, stride, field.array_length,
             [&](const std::byte* element) { Inline(field, element); });
  }

  void Bits(const FieldInfo& field, const std::byte* at) {
    const uint64_t bits = LoadUnsigned(at, field.size_bytes) >> field.bit_offset;
    const uint64_t value =
        field.bit_count >= 64 ? bits : bits & ((uint64_t{1} << field.bit_count) - 1);
    if (field.kind == ValueKind::kFlags) {
      out_.Word(FlagNames(Enums()[field.type_index], static_cast<uint32_t>(value)));
    } else if (field.kind == ValueKind::kEnum) {
      Enumerator(field, static_cast<uint32_t>(value));
    } else {
      out_.Unsigned(value);
    }
  }

  // "ROOT_SIGNATURE" of D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_ROOT_SIGNATURE.
  static std::string_view PartName(std::string_view name) {
    const size_t type = name.find("_TYPE_");
    return type == std::string_view::npos ? name : name.substr(type + 6);
  }

  void PipelineStream(const std::byte* place) {
    const auto desc = Load<PipelineStreamDesc>(place);
    if (desc.stream == nullptr) return;
    const auto size = static_cast<size_t>(desc.size_bytes);
    std::map<std::string_view, uint32_t> named;
    const size_t known =
        ForEachPipelinePart(desc.stream, size, [&](const SubobjectInfo& part, size_t offset) {
          const std::string_view name = PartName(part.value.name);
          const uint32_t before = named[name]++;
          // Keys of an object differ, also if the program gave a part twice.
          before == 0 ? out_.Key(name) : out_.Key(fmt::format("{} ({})", name, before + 1));
          Inline(part.value, desc.stream + offset);
          return true;
        });
    if (known == size) return;
    out_.Key("unknown");
    out_.Bytes({desc.stream + known, size - known});
  }

  void StateObject(const StructInfo& type, const std::byte* place) {
    const auto desc = Load<StateObjectDesc>(place);
    Field(type, type.fields[0], place);
    out_.Key("Subobjects");
    if (desc.subobjects == nullptr) return out_.Null();
    out_.BeginArray();
    for (uint32_t i = 0; i < desc.subobject_count; ++i) {
      const auto part = Load<StateSubobject>(desc.subobjects + size_t{i} * sizeof(StateSubobject));
      const SubobjectInfo* const known = FindStateSubobject(part.type);
      out_.BeginStruct();
      out_.Key(known != nullptr ? std::string(PartName(known->value.name))
                                : fmt::format("type {}", part.type));
      if (part.desc == nullptr || known == nullptr) {
        out_.Null();
      } else if (part.type == kAssociationType) {
        Association(part.desc, desc.subobjects);
      } else if (part.type == kProgramType) {
        Program(part.desc, desc.subobjects);
      } else {
        Inline(known->value, part.desc);
      }
      out_.EndStruct();
    }
    out_.EndArray();
  }

  void Association(const std::byte* place, const std::byte* subobjects) {
    const auto association = Load<StateAssociation>(place);
    out_.BeginStruct();
    out_.Key("Subobject");
    SubobjectIndex(association.subobject, subobjects);
    Exports(association.exports, association.export_count);
    out_.EndStruct();
  }

  void Program(const std::byte* place, const std::byte* subobjects) {
    const auto program = Load<StateProgram>(place);
    out_.BeginStruct();
    out_.Key("ProgramName");
    program.name == nullptr ? out_.Null() : out_.Text(Utf8(program.name));
    Exports(program.exports, program.export_count);
    out_.Key("Subobjects");
    out_.BeginArray();
    for (uint32_t i = 0; i < program.subobject_count; ++i) {
      SubobjectIndex(program.subobjects[i], subobjects);
    }
    out_.EndArray();
    out_.EndStruct();
  }

  void SubobjectIndex(const std::byte* subobject, const std::byte* subobjects) {
    subobject == nullptr
        ? out_.Null()
        : out_.Unsigned(static_cast<uint64_t>(subobject - subobjects) / sizeof(StateSubobject));
  }

  void Exports(const void* const* exports, uint32_t count) {
    out_.Key("Exports");
    out_.BeginArray();
    for (uint32_t i = 0; i < count; ++i) {
      exports[i] == nullptr ? out_.Null() : out_.Text(Utf8(exports[i]));
    }
    out_.EndArray();
  }

  const ValueNames& names_;
  ValueOutput& out_;
};

void PutArguments(const MethodInfo& method, const DecodedCall& call, const ValueNames& names,
                  ValueOutput* out) {
  Printer printer(names, out);
  out->BeginStruct();
  for (size_t i = 0; i < call.arguments.size(); ++i) printer.Argument(method, call, i);
  out->EndStruct();
}

}  // namespace

std::string ResultCodeName(uint32_t code) {
  const std::string_view name = HresultName(code);
  return name.empty() ? fmt::format("{:#010x}", code) : std::string(name);
}

namespace {

std::string PrintCall(const MethodInfo& method, const DecodedCall& call, const ValueNames& names,
                      TextOutput::Detail detail) {
  TextOutput out(detail);
  PutArguments(method, call, names, &out);
  const std::string_view name = method.name;
  const size_t separator = name.rfind(':');
  std::string text(separator == std::string_view::npos ? name : name.substr(separator + 1));
  // The brackets of the struct become those of a call.
  text += '(';
  text.append(out.text, 1, out.text.size() - 2);
  text += ')';
  return text;
}

}  // namespace

std::string PrintArguments(const MethodInfo& method, const DecodedCall& call,
                           const ValueNames& names, bool whole) {
  return PrintCall(method, call, names,
                   whole ? TextOutput::Detail::kWhole : TextOutput::Detail::kShort);
}

std::string ArgumentsToCompare(const MethodInfo& method, const DecodedCall& call,
                               const ValueNames& names) {
  return PrintCall(method, call, names, TextOutput::Detail::kToCompare);
}

std::string PrintResult(const MethodInfo& method, const DecodedCall& call, const ValueNames& names,
                        bool whole) {
  TextOutput out(whole);
  Printer printer(names, &out);
  if (call.result != nullptr) printer.MethodResult(method.result, call.result);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const bool is_set =
        call.arguments[i] != nullptr && Load<const void*>(call.arguments[i]) != nullptr;
    if (is_set) printer.Output(method, call, i);
  }
  return out.text;
}

std::string PrintMembers(const MethodInfo& method, const DecodedCall& call,
                         const ValueNames& names) {
  std::string members;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const ParameterInfo& parameter = method.parameters[i];
    if (parameter.direction == Direction::kOut || StructOf(parameter) == nullptr ||
        ShapeOf(method, i) != Shape::kArray || parameter.count.factor_count != 0) {
      continue;
    }
    const auto* const place = Load<const std::byte*>(call.arguments[i]);
    if (place == nullptr || call.counts[i] != 1) continue;
    TextOutput out(TextOutput::Detail::kMemberLines);
    Printer(names, &out).Inline(parameter, place);
    members.append(out.text, 1, out.text.size() - 2);  // without brackets
    members += '\n';
  }
  return members;
}

std::string PrintValue(const ValueInfo& value, const void* place, const ValueNames& names) {
  TextOutput out(/*whole=*/false);
  Printer(names, &out).Inline(value, static_cast<const std::byte*>(place));
  return out.text;
}

void WriteValue(const ValueInfo& value, const void* place, const ValueNames& names,
                JsonWriter* json) {
  JsonOutput out(/*whole=*/false, kMostValueBytes, json);
  Printer(names, &out).Inline(value, static_cast<const std::byte*>(place));
}

void WriteArguments(const MethodInfo& method, const DecodedCall& call, const ValueNames& names,
                    bool whole, JsonWriter* json, size_t most_bytes) {
  JsonOutput out(whole, most_bytes, json);
  PutArguments(method, call, names, &out);
}

void WriteResult(const MethodInfo& method, const DecodedCall& call, const ValueNames& names,
                 bool whole, JsonWriter* json) {
  JsonOutput out(whole, kMostValueBytes, json);
  Printer printer(names, &out);
  out.BeginStruct();
  if (call.result != nullptr) {
    out.Key("result");
    printer.MethodResult(method.result, call.result);
  }
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (call.arguments[i] != nullptr) printer.Output(method, call, i);
  }
  out.EndStruct();
}

}  // namespace cairn
