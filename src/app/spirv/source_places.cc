// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/source_places.h"

#include <fmt/format.h>
#include <spirv/unified1/NonSemanticShaderDebugInfo100.h>

#include <algorithm>
#include <bit>

namespace cairn::spirv {
namespace {

// "march" of "march(vf3;", as glslang names functions, and "main" of "src.main", as DXC does.
std::string FunctionName(std::string name) {
  name = name.substr(0, name.find('('));
  if (name.starts_with("src.")) name.erase(0, 4);
  return name;
}

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string Trimmed(const std::string& line) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = line.find_first_not_of(kBlanks);
  return first == std::string::npos
             ? ""
             : line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

// OpSourceContinued goes on in the middle of a line.
void AddText(const std::string& text, std::vector<std::string>* lines) {
  std::vector<std::string> more = LinesOf(text);
  if (more.empty()) return;
  if (!lines->empty()) {
    lines->back() += more.front();
    more.erase(more.begin());
  }
  lines->insert(lines->end(), more.begin(), more.end());
}

uint64_t MemberKey(uint32_t type, uint32_t member) {
  return uint64_t{type} << 32 | member;
}

}  // namespace

SourcePlaces::SourcePlaces(const Module& module) : module_(module) {
  for (const Instruction& instruction : module.globals) ReadGlobal(instruction);
}

void SourcePlaces::ReadGlobal(const Instruction& instruction) {
  const auto operands = instruction.operands();
  switch (instruction.opcode) {
    case spv::OpString: strings_[instruction.result] = instruction.StringAt(0); break;
    case spv::OpName: names_[operands[0]] = instruction.StringAt(1); break;
    case spv::OpMemberName:
      member_names_[MemberKey(operands[0], operands[1])] = instruction.StringAt(2);
      break;
    case spv::OpSource: ReadSource(instruction); break;
    case spv::OpSourceContinued:
      AddText(instruction.StringAt(0), &sources_[last_source_].lines);
      break;
    case spv::OpExtInstImport:
      if (instruction.StringAt(0) == "NonSemantic.Shader.DebugInfo.100")
        debug_info_ = instruction.result;
      break;
    case spv::OpExtInst:
      if (operands[0] == debug_info_) ReadDebugSource(instruction);
      break;
    default: break;
  }
}

// Language, version, and perhaps a file and its text.
void SourcePlaces::ReadSource(const Instruction& instruction) {
  const auto operands = instruction.operands();
  if (operands.size() < 3) return;
  last_source_ = operands[2];
  Source& source = sources_[last_source_];
  source.file = strings_[last_source_];
  if (operands.size() > 3) AddText(instruction.StringAt(3), &source.lines);
}

// DebugSource: set, instruction, file, and perhaps its text.
void SourcePlaces::ReadDebugSource(const Instruction& instruction) {
  const auto operands = instruction.operands();
  if (operands.size() < 3) return;
  if (operands[1] == NonSemanticShaderDebugInfo100DebugSource) {
    last_source_ = instruction.result;
    Source& source = sources_[last_source_];
    source.file = strings_[operands[2]];
    if (operands.size() > 3) AddText(strings_[operands[3]], &source.lines);
  } else if (operands[1] == NonSemanticShaderDebugInfo100DebugSourceContinued) {
    AddText(strings_[operands[2]], &sources_[last_source_].lines);
  }
}

uint32_t SourcePlaces::ConstantOf(uint32_t id) const {
  const Instruction* constant = module_.Global(id);
  return constant != nullptr && constant->opcode == spv::OpConstant ? constant->operands()[0] : 0;
}

// False where the instruction says nothing of lines.
bool SourcePlaces::ReadLine(const Instruction& instruction, Line* line) const {
  const auto operands = instruction.operands();
  if (instruction.opcode == spv::OpNoLine) {
    *line = {};
    return true;
  }
  if (instruction.opcode == spv::OpLine) {
    *line = {operands[0], operands[1], operands[2]};
    return true;
  }
  if (instruction.opcode != spv::OpExtInst || operands[0] != debug_info_ || debug_info_ == 0)
    return false;
  if (operands[1] == NonSemanticShaderDebugInfo100DebugNoLine) {
    *line = {};
    return true;
  }
  // DebugLine: set, instruction, source, first and last line, first and last column.
  if (operands[1] != NonSemanticShaderDebugInfo100DebugLine || operands.size() < 7) return false;
  *line = {operands[2], ConstantOf(operands[3]), ConstantOf(operands[5])};
  return true;
}

SourcePlace SourcePlaces::PlaceOf(const Function& function,
                                  std::span<const Instruction> instructions) const {
  SourcePlace place;
  if (const auto name = names_.find(function.id()); name != names_.end())
    place.function = FunctionName(name->second);
  Line line;
  for (const Instruction& instruction : instructions) ReadLine(instruction, &line);
  const auto source = sources_.find(line.source);
  const auto file = strings_.find(line.source);
  if (line.line == 0 || (source == sources_.end() && file == strings_.end())) return place;
  place.line = line.line;
  place.column = line.column;
  place.file = source != sources_.end() ? source->second.file : file->second;
  if (source != sources_.end() && line.line <= source->second.lines.size()) {
    place.text = Trimmed(source->second.lines[line.line - 1]);
  }
  return place;
}

// "lights[].count" of a chain through structures and arrays: the base's name, if it has one, and the last member's.
std::string SourcePlaces::MemberName(const Instruction& chain, uint32_t depth) const {
  const auto operands = chain.operands();
  const std::string base = NameOf(operands[0], depth + 1);
  const Instruction* variable = module_.Global(operands[0]);
  const Instruction* pointer = variable == nullptr ? nullptr : module_.Global(variable->type);
  if (pointer == nullptr || pointer->opcode != spv::OpTypePointer) return base;
  uint32_t type = pointer->operands()[1];
  std::string name = base;
  for (uint32_t index : operands.subspan(1)) {
    const Instruction* composite = module_.Global(type);
    if (composite == nullptr) break;
    if (composite->opcode == spv::OpTypeStruct) {
      const uint32_t member = ConstantOf(index);
      if (member >= composite->operands().size()) break;
      const auto found = member_names_.find(MemberKey(type, member));
      if (found != member_names_.end()) name += (name.empty() ? "" : ".") + found->second;
      type = composite->operands()[member];
    } else if (composite->opcode == spv::OpTypeArray ||
               composite->opcode == spv::OpTypeRuntimeArray) {
      name += "[]";
      type = composite->operands()[0];
    } else {
      break;
    }
  }
  return name;
}

std::string SourcePlaces::NameOf(uint32_t id, uint32_t depth) const {
  // Lists of any length can be walked by addresses.
  constexpr uint32_t kMostDepth = 8;
  if (depth > kMostDepth) return "";
  if (const auto name = names_.find(id); name != names_.end() && !name->second.empty())
    return name->second;
  const Instruction* global = module_.Global(id);
  if (global != nullptr && global->opcode == spv::OpConstant) {
    const Instruction* type = module_.Global(global->type);
    const uint32_t bits = global->operands()[0];
    if (type->operands()[0] != 32) return "";
    if (type->opcode == spv::OpTypeFloat) return fmt::format("{}", std::bit_cast<float>(bits));
    return type->operands()[1] != 0 ? fmt::format("{}", static_cast<int32_t>(bits))
                                    : fmt::format("{}", bits);
  }
  for (const Function& function : module_.functions) {
    for (const Block& block : function.blocks) {
      for (const Instruction& instruction : block.instructions) {
        if (instruction.result != id) continue;
        if (instruction.opcode == spv::OpLoad) return NameOf(instruction.operands()[0], depth + 1);
        if (instruction.opcode == spv::OpAccessChain ||
            instruction.opcode == spv::OpInBoundsAccessChain) {
          return MemberName(instruction, depth);
        }
        return "";
      }
    }
  }
  return "";
}

}  // namespace cairn::spirv
