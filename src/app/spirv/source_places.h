// SPDX-License-Identifier: Apache-2.0
//
// Where an instruction comes from: OpLine, NonSemantic.Shader.DebugInfo.100, OpSource and OpName, as far as a compiler
// left them in the module.
#ifndef CAIRN_APP_SPIRV_SOURCE_PLACES_H_
#define CAIRN_APP_SPIRV_SOURCE_PLACES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/spirv/disassembly.h"
#include "app/spirv/module.h"
#include "format/experiment/shader_excerpt.h"

namespace cairn::spirv {

struct SourcePlace {
  std::string function;  // its name without parameters; "" for none
  std::string file;      // "" for none, and then the line is 0
  uint32_t line = 0;     // from 1 on; 0: not known
  uint32_t column = 0;   // from 1 on; 0: not known
  std::string
      text;  // the line of the source, without the blanks around it; "" where the module has no source
  // Lines of the source, or of the disassembly where the module has none; empty for very large modules.
  ShaderExcerpt excerpt;
};

// Memory: some words for each string, name, line and value of the module. Names and lines that are returned are cut at
// some hundred bytes.
//
// Threads: one.
class SourcePlaces {
 public:
  // `module` outlives this, and does not change meanwhile.
  explicit SourcePlaces(const Module& module);

  // The place of the last instruction of `instructions` (a block of `function`, up to the one that is asked for).
  SourcePlace PlaceOf(const Function& function, std::span<const Instruction> instructions) const;
  // The place that debug information gives a variable of the module: of its declaration, by glslang of its first use.
  // Without one all is empty.
  SourcePlace DeclarationOf(uint32_t variable) const;
  // The name of a value: its own, or of the variable, the member or the constant that it was loaded from; "" for none.
  std::string NameOf(uint32_t id) const { return NameOf(id, 0); }

 private:
  // A text may come in pieces, which end in the middle of a line, and several sources may share one.
  struct Source {
    std::string_view file;
    std::vector<std::string_view> pieces;
  };
  struct Line {
    uint32_t source = 0;  // id
    uint32_t line = 0;
    uint32_t column = 0;
  };
  void ReadGlobal(const Instruction& instruction);
  void Locate(const Line& line, SourcePlace* place) const;
  bool ReadLine(const Instruction& instruction, Line* line) const;
  std::string_view StringOf(uint32_t id) const;
  std::string LineOf(const Source& source, uint32_t line) const;
  bool HasLine(const Source& source, uint32_t line) const;
  ShaderExcerpt SourceAround(const Source& source, uint32_t line) const;
  ShaderExcerpt DisassemblyAround(const Function& function, const Instruction& instruction) const;
  const std::vector<uint32_t>& LineEnds(std::string_view piece) const;
  bool IsConstant(uint32_t id) const;
  uint32_t ConstantOf(uint32_t id) const;
  std::string NameOf(uint32_t id, uint32_t depth) const;
  std::string MemberName(const Instruction& chain, uint32_t depth) const;

  const Module& module_;
  std::unordered_map<uint32_t, std::string_view> strings_;
  std::unordered_map<uint32_t, std::string_view> names_;
  std::unordered_map<uint64_t, std::string_view> member_names_;  // by type and member
  std::unordered_map<uint32_t, Source>
      sources_;  // by the id of the file's string, or of DebugSource
  // Where lines end in a piece, by its first byte: counted once, when a line of it is asked for.
  mutable std::unordered_map<const char*, std::vector<uint32_t>> line_ends_;
  std::unordered_map<uint32_t, const Instruction*>
      named_by_others_;  // loads, values read as another type, chains of members; variables of functions
  mutable std::unique_ptr<Disassembly> disassembly_;  // once it is asked for
  std::unordered_map<uint32_t, Line> declarations_;   // of variables of the module, by id
  uint32_t last_source_ = 0;                          // that OpSourceContinued goes on with
  uint32_t debug_info_ = 0;                           // the set of instructions
};

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_SOURCE_PLACES_H_
