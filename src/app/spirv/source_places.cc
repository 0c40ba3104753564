// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/source_places.h"

#include <fmt/format.h>
#include <spirv/unified1/NonSemanticShaderDebugInfo100.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "base/text.h"

namespace cairn::spirv {
namespace {

constexpr size_t kMostNameBytes = 256;
constexpr size_t kMostFileBytes = 1024;
constexpr size_t kMostTextBytes = 512;
// No more of a line is looked at: a place may be asked for a thousand times, and a line may be all of the text.
constexpr size_t kMostLineBytes = 4096;
// Each holds up to 256 KiB.
constexpr size_t kMostPieces = 256;
// An excerpt has so many lines in front of the place and behind it, of so many bytes.
constexpr uint32_t kSourceBefore = 3, kSourceBehind = 4;
constexpr uint32_t kDisassemblyBefore = 2, kDisassemblyBehind = 13;
constexpr size_t kMostExcerptLineBytes = 120;
constexpr size_t kMostDisassembledInstructions = size_t{1} << 18;

std::string Cut(std::string_view text, size_t max_bytes) {
  return std::string(Utf8Prefix(text, max_bytes));
}

// "march" of "march(vf3;", as glslang names functions, and "main" of "src.main", as DXC does.
std::string_view FunctionName(std::string_view name) {
  name = name.substr(0, name.find('('));
  if (name.starts_with("src.")) name.remove_prefix(4);
  return name;
}

std::string_view Trimmed(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = line.find_first_not_of(kBlanks);
  return first == line.npos ? "" : line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

// The text without what glslang puts in front of it: comments of its options, and "#line 1". Lines are counted behind
// them.
std::string_view WithoutOptions(std::string_view text) {
  constexpr std::string_view kOption = "// OpModuleProcessed ";
  constexpr std::string_view kFirstLine = "#line 1\n";
  std::string_view rest = text;
  while (rest.starts_with(kOption)) {
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  }
  return rest.starts_with(kFirstLine) ? rest.substr(kFirstLine.size()) : text;
}

}  // namespace

SourcePlaces::SourcePlaces(const Module& module) : module_(module) {
  for (const Instruction& instruction : module.globals) ReadGlobal(instruction);
  for (const Function& function : module.functions) {
    for (const Block& block : function.blocks) {
      for (const Instruction& instruction : block.instructions) {
        if (instruction.opcode == spv::OpLoad || instruction.opcode == spv::OpBitcast ||
            instruction.opcode == spv::OpVariable || IsAccessChain(instruction.opcode))
          named_by_others_[instruction.result] = &instruction;
      }
    }
  }
}

std::string_view SourcePlaces::StringOf(uint32_t id) const {
  const auto found = strings_.find(id);
  return found == strings_.end() ? std::string_view() : found->second;
}

void SourcePlaces::ReadGlobal(const Instruction& instruction) {
  const auto operands = instruction.operands();
  const auto add_piece = [&](std::string_view text) {
    Source& source = sources_[last_source_];
    if (source.pieces.size() < kMostPieces) source.pieces.push_back(text);
  };
  switch (instruction.opcode) {
    case spv::OpString: strings_[instruction.result] = instruction.StringAt(0); break;
    case spv::OpName: names_[operands[0]] = instruction.StringAt(1); break;
    case spv::OpMemberName:
      member_names_[MemberKey(operands[0], operands[1])] = instruction.StringAt(2);
      break;
    case spv::OpSource:
      // Language, version, and perhaps a file and its text.
      if (operands.size() < 3) break;
      last_source_ = operands[2];
      sources_[last_source_].file = StringOf(last_source_);
      if (operands.size() > 3) add_piece(WithoutOptions(instruction.StringAt(3)));
      break;
    case spv::OpSourceContinued: add_piece(instruction.StringAt(0)); break;
    case spv::OpExtInstImport:
      if (instruction.StringAt(0) == "NonSemantic.Shader.DebugInfo.100")
        debug_info_ = instruction.result;
      break;
    case spv::OpExtInst:
      if (operands[0] != debug_info_ || operands.size() < 3) break;
      if (operands[1] == NonSemanticShaderDebugInfo100DebugSource) {
        // Set, instruction, file, and perhaps its text.
        last_source_ = instruction.result;
        sources_[last_source_].file = StringOf(operands[2]);
        if (operands.size() > 3) add_piece(StringOf(operands[3]));
      } else if (operands[1] == NonSemanticShaderDebugInfo100DebugSourceContinued) {
        add_piece(StringOf(operands[2]));
      } else if (operands[1] == NonSemanticShaderDebugInfo100DebugGlobalVariable &&
                 operands.size() > 9) {
        // Set, instruction, name, type, source, line, column, parent, linkage name, variable.
        declarations_[operands[9]] = {operands[4], ConstantOf(operands[5]),
                                      ConstantOf(operands[6])};
      }
      break;
    default: break;
  }
}

const std::vector<uint32_t>& SourcePlaces::LineEnds(std::string_view piece) const {
  const auto [found, is_new] = line_ends_.try_emplace(piece.data());
  if (is_new) {
    for (size_t at = piece.find('\n'); at != piece.npos; at = piece.find('\n', at + 1))
      found->second.push_back(static_cast<uint32_t>(at));
  }
  return found->second;
}

std::string SourcePlaces::LineOf(const Source& source, uint32_t line) const {
  size_t before = line - 1;  // lines in front of it, from where the search is
  size_t i = 0;
  for (; i < source.pieces.size(); ++i) {
    const size_t ends = LineEnds(source.pieces[i]).size();
    if (ends >= before) break;
    before -= ends;
  }
  std::string text;
  for (; i < source.pieces.size(); ++i, before = 0) {
    const std::string_view piece = source.pieces[i];
    const std::vector<uint32_t>& ends = LineEnds(piece);
    const size_t begin = before == 0 ? 0 : ends[before - 1] + 1;
    const bool is_whole = before < ends.size();
    const std::string_view rest = piece.substr(begin, is_whole ? ends[before] - begin : piece.npos);
    const size_t room = kMostLineBytes - text.size();
    text += Utf8Prefix(rest, room);
    if (is_whole || rest.size() >= room) break;
  }
  return text;
}

bool SourcePlaces::HasLine(const Source& source, uint32_t line) const {
  size_t ends = 0;
  for (const std::string_view piece : source.pieces) ends += LineEnds(piece).size();
  return line <= ends + 1;
}

ShaderExcerpt SourcePlaces::SourceAround(const Source& source, uint32_t line) const {
  ShaderExcerpt excerpt;
  if (source.pieces.empty() || !HasLine(source, line)) return excerpt;
  excerpt.first_line = line > kSourceBefore ? line - kSourceBefore : 1;
  excerpt.marked = line - excerpt.first_line;
  for (uint32_t at = excerpt.first_line; at <= line + kSourceBehind && HasLine(source, at); ++at) {
    if (at != excerpt.first_line) excerpt.lines += '\n';
    std::string text = LineOf(source, at);
    while (!text.empty() && text.back() == '\r') text.pop_back();
    excerpt.lines += Cut(text, kMostExcerptLineBytes);
  }
  return excerpt;
}

ShaderExcerpt SourcePlaces::DisassemblyAround(const Function& function,
                                              const Instruction& instruction) const {
  ShaderExcerpt excerpt;
  if (named_by_others_.size() > kMostDisassembledInstructions) return excerpt;
  if (disassembly_ == nullptr) disassembly_ = std::make_unique<Disassembly>(module_);
  const std::optional<size_t> line = disassembly_->LineOf(function, instruction);
  if (!line) return excerpt;
  const std::vector<std::string_view>& lines = disassembly_->lines();
  const size_t first = *line - std::min<size_t>(*line, kDisassemblyBefore);
  const size_t end = std::min(lines.size(), *line + 1 + kDisassemblyBehind);
  excerpt.marked = static_cast<uint32_t>(*line - first);
  for (size_t at = first; at < end; ++at) {
    if (at != first) excerpt.lines += '\n';
    excerpt.lines += Cut(lines[at], kMostExcerptLineBytes);
  }
  return excerpt;
}

bool SourcePlaces::IsConstant(uint32_t id) const {
  const Instruction* constant = module_.Global(id);
  return constant != nullptr && constant->opcode == spv::OpConstant;
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

// Leaves all as it is where the file is not known.
void SourcePlaces::Locate(const Line& line, SourcePlace* place) const {
  const auto source = sources_.find(line.source);
  const auto file = strings_.find(line.source);
  if (line.line == 0 || (source == sources_.end() && file == strings_.end())) return;
  place->line = line.line;
  place->column = line.column;
  place->file = Cut(source != sources_.end() ? source->second.file : file->second, kMostFileBytes);
  if (source == sources_.end()) return;
  place->text = Cut(Trimmed(LineOf(source->second, line.line)), kMostTextBytes);
  place->excerpt = SourceAround(source->second, line.line);
}

SourcePlace SourcePlaces::DeclarationOf(uint32_t variable) const {
  SourcePlace place;
  if (const auto found = declarations_.find(variable); found != declarations_.end())
    Locate(found->second, &place);
  return place;
}

SourcePlace SourcePlaces::PlaceOf(const Function& function,
                                  std::span<const Instruction> instructions) const {
  SourcePlace place;
  if (const auto name = names_.find(function.id()); name != names_.end())
    place.function = Cut(FunctionName(name->second), kMostNameBytes);
  // The last one holds.
  Line line;
  const bool has_lines = !sources_.empty() || !strings_.empty();
  for (size_t i = has_lines ? instructions.size() : 0;
       i-- > 0 && !ReadLine(instructions[i], &line);) {
  }
  Locate(line, &place);
  if (place.excerpt.lines.empty()) {
    place.excerpt = DisassemblyAround(function, instructions.back());
  }
  return place;
}

// "lights[].count" of a chain through structures and arrays: the base's name, if it has one, and the last member's.
std::string SourcePlaces::MemberName(const Instruction& chain, uint32_t depth) const {
  const auto operands = chain.operands();
  const std::string base = NameOf(operands[0], depth + 1);
  const Instruction* variable = module_.Global(operands[0]);
  if (const auto local = named_by_others_.find(operands[0]);
      local != named_by_others_.end() && local->second->opcode == spv::OpVariable) {
    variable = local->second;
  }
  const Instruction* pointer = variable == nullptr ? nullptr : module_.Global(variable->type);
  if (pointer == nullptr || pointer->opcode != spv::OpTypePointer) return base;
  uint32_t type = pointer->operands()[1];
  std::string name = base;
  for (uint32_t index : operands.subspan(1)) {
    if (name.size() > kMostNameBytes) break;
    const Instruction* composite = module_.Global(type);
    if (composite == nullptr) break;
    if (composite->opcode == spv::OpTypeStruct) {
      const uint32_t member = ConstantOf(index);
      if (member >= composite->operands().size()) break;
      const auto found = member_names_.find(MemberKey(type, member));
      if (found != member_names_.end())
        name += fmt::format("{}{}", name.empty() ? "" : ".", found->second);
      type = composite->operands()[member];
    } else if (composite->opcode == spv::OpTypeArray ||
               composite->opcode == spv::OpTypeRuntimeArray) {
      name += "[]";
      type = composite->operands()[0];
    } else if (composite->opcode == spv::OpTypeVector && !name.empty() && IsConstant(index) &&
               ConstantOf(index) < 4) {
      // As registers of Direct3D are written.
      name += fmt::format(".{}", "xyzw"[ConstantOf(index)]);
      break;
    } else {
      break;
    }
  }
  return Cut(name, kMostNameBytes);
}

std::string SourcePlaces::NameOf(uint32_t id, uint32_t depth) const {
  // Lists of any length can be walked by addresses.
  constexpr uint32_t kMostDepth = 8;
  if (depth > kMostDepth) return "";
  if (const auto name = names_.find(id); name != names_.end() && !name->second.empty())
    return Cut(name->second, kMostNameBytes);
  const Instruction* global = module_.Global(id);
  if (global != nullptr && global->opcode == spv::OpConstant) {
    const Instruction* type = module_.Global(global->type);
    const uint32_t bits = global->operands()[0];
    if (type->operands()[0] != 32) return "";
    if (type->opcode == spv::OpTypeFloat) return fmt::format("{}", std::bit_cast<float>(bits));
    return type->operands()[1] != 0 ? fmt::format("{}", static_cast<int32_t>(bits))
                                    : fmt::format("{}", bits);
  }
  const auto found = named_by_others_.find(id);
  if (found == named_by_others_.end()) return "";
  const Instruction& value = *found->second;
  if (value.opcode == spv::OpVariable) return "";
  return IsAccessChain(value.opcode) ? MemberName(value, depth)
                                     : NameOf(value.operands()[0], depth + 1);
}

}  // namespace cairn::spirv
