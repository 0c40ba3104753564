// SPDX-License-Identifier: Apache-2.0
#include "cli/mistaken_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "cli/verb.h"
#include "os/file.h"
#include "os/process.h"

namespace cairn::cli {
namespace {

enum class Kind : uint8_t { kUnknown, kCairn, kProgram, kWindowsProgram, kForeign };

struct Recognised {
  Kind kind = Kind::kUnknown;
  const char* what = "";  // kForeign: what it is, and what to do with it
};

constexpr size_t kHeadBytes = 32;

std::string HeadOf(const std::string& path) {
  if (FactsAt(path).type != std::filesystem::file_type::regular) return "";
  std::error_code error;
  const File file = File::Open(path, FileMode::kRead, error);
  if (error) return "";
  std::array<char, kHeadBytes> head{};
  size_t read_bytes = 0;
  error = file.ReadAt(0, std::as_writable_bytes(std::span(head)), &read_bytes);
  return error ? "" : std::string(head.data(), read_bytes);
}

bool IsLibrary(const std::string& path) {
  const std::string name = TextOfPath(FilePath(path).filename());
  return name.ends_with(".so") || name.find(".so.") != std::string::npos || name.ends_with(".dll");
}

// An ELF file's type, e_type, of either byte order.
int ElfType(const std::string& head) {
  if (head.size() < 18) return 0;
  const bool big_endian = head[5] == 2;
  return static_cast<unsigned char>(head[big_endian ? 17 : 16]);
}

Recognised Recognise(const std::string& path) {
  constexpr int kElfCore = 4;
  constexpr std::pair<std::string_view, const char*> kForeign[] = {
      {"MDMP", "a minidump, which holds the state of the CPU"},
      {"RDOC", "a capture of RenderDoc"},
      {"\x1f\x8b", "packed with gzip: unpack it first"},
      {"PK\x03\x04", "a ZIP archive: unpack it first"},
      {"\x28\xb5\x2f\xfd", "packed with zstd: unpack it first"},
      {"\xfd"
       "7zXZ",
       "packed with xz: unpack it first"},
      {"<!doctype html>", "a page: open it in a browser"},
  };
  const std::string head = HeadOf(path);
  if (head.starts_with("\x89"
                       "CAIRN\r\n")) {
    return {Kind::kCairn};
  }
  if (head.starts_with("\x7f"
                       "ELF")) {
    if (ElfType(head) == kElfCore) {
      return {Kind::kForeign, "a core dump, which holds the state of the CPU"};
    }
    return IsLibrary(path) ? Recognised{Kind::kForeign, "a library"} : Recognised{Kind::kProgram};
  }
  if (head.starts_with("#!")) return {Kind::kProgram};
  if (head.starts_with("MZ")) {
    if (IsLibrary(path)) return {Kind::kForeign, "a library"};
    const bool on_windows = !ProgramFile("").empty();
    return {on_windows ? Kind::kProgram : Kind::kWindowsProgram};
  }
  for (const auto& [magic, what] : kForeign) {
    if (head.starts_with(magic)) return {Kind::kForeign, what};
  }
  return {};
}

bool IsFile(const std::string& path) {
  return FactsAt(path).type == std::filesystem::file_type::regular;
}

bool HasFolder(const std::string& name) {
  return FilePath(name).has_parent_path();
}

// The same, and a name that a shell finds in PATH.
Recognised RecogniseProgram(const std::string& word) {
  if (FactsAt(word).type != std::filesystem::file_type::not_found) return Recognise(word);
  if (HasFolder(word)) return {};
  const std::string found = FileOfProgram(word);
  return found.empty() ? Recognised{} : Recognised{Kind::kProgram};
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + ShellQuoted(word);
  return text;
}

// As it has to be typed to be started: a file of this folder needs its folder.
std::string StartedAs(const std::string& word, Kind kind) {
  const std::string path = HasFolder(word) || !IsFile(word) ? word : "./" + word;
  return (kind == Kind::kWindowsProgram ? "wine " : "") + ShellQuoted(path);
}

const char* ProgramInWords(Kind kind) {
  return kind == Kind::kWindowsProgram ? "a program of Windows" : "a program";
}

bool IsProgram(Kind kind) {
  return kind == Kind::kProgram || kind == Kind::kWindowsProgram;
}

// Returns the program or .cairn file of the same folder whose name is most like this one; "" if none is.
std::string FileLike(const std::string& path) {
  constexpr size_t kMostFiles = 4096;
  constexpr size_t kFewestLetters = 3;
  // The ending is no part of the name: it would make all names alike.
  std::string word = TextOfPath(FilePath(path).filename());
  const std::string ending = word.ends_with(".cairn") ? ".cairn" : "";
  word.resize(word.size() - ending.size());
  if (word.size() < kFewestLetters) return "";
  const std::filesystem::path folder = FilePath(path).parent_path();
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator file(folder.empty() ? "." : folder, error);
  for (; !error && file != std::filesystem::directory_iterator() && names.size() < kMostFiles;
       file.increment(error)) {
    std::string name = TextOfPath(file->path().filename());
    if (!name.ends_with(ending)) continue;
    name.resize(name.size() - ending.size());
    names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  const std::string name = ClosestWord(word, names);
  if (name.empty()) return "";
  const std::string like = TextOfPath(folder / FilePath(name + ending));
  const Kind kind = Recognise(like).kind;
  return kind == Kind::kCairn || IsProgram(kind) ? like : "";
}

}  // namespace

bool RunsPrograms(std::string_view verb) {
  return verb == "bisect" || verb == "why";
}

std::string MistakenForFile(std::string_view verb, const std::string& path, NeededFile needed) {
  const std::string completed = path + ".cairn";
  if (FactsAt(path).type == std::filesystem::file_type::not_found && IsFile(completed)) {
    return fmt::format("there is no file {}; did you mean {}?", path, completed);
  }
  const bool is_there = FactsAt(path).type != std::filesystem::file_type::not_found;
  if (const std::string like = is_there ? "" : FileLike(path); !like.empty()) {
    const Kind kind = Recognise(like).kind;
    const char* const capture = needed == NeededFile::kTrace ? " --capture" : "";
    const std::string meant =
        !IsProgram(kind)     ? ShellQuoted(like)
        : RunsPrograms(verb) ? fmt::format("cairn {} -- {}", verb, StartedAs(like, kind))
                             : fmt::format("cairn run{} -- {}", capture, StartedAs(like, kind));
    return fmt::format("cannot open {}: there is no such file; did you mean {}?", path, meant);
  }
  const Recognised found = RecogniseProgram(path);
  if (IsProgram(found.kind)) {
    const char* const with = needed == NeededFile::kTrace ? " --capture" : "";
    const char* const effect =
        needed == NeededFile::kTrace ? "records a trace" : "writes a file if it crashes or hangs";
    return fmt::format("{} is {}: cairn run{} -- {} {}, which cairn {} reads", path,
                       ProgramInWords(found.kind), with, StartedAs(path, found.kind), effect, verb);
  }
  if (found.kind != Kind::kForeign) return "";
  return fmt::format("{} is {}; cairn {} reads .cairn files, which cairn run writes", path,
                     found.what, verb);
}

std::string MistakenForProgram(std::string_view verb, const std::string& program, StatusCode code) {
  const Recognised found = Recognise(program);
  if (found.kind == Kind::kCairn) {
    const bool plays = RunsPrograms(verb);
    return fmt::format("{} is a .cairn file, not a program: cairn {} {}{}", program,
                       plays ? verb : "report", ShellQuoted(program),
                       plays ? "" : " says what it holds");
  }
  if (!HasFolder(program) && IsProgram(found.kind) && FileOfProgram(program).empty()) {
    return fmt::format("program '{}' was not found in PATH; did you mean {}?", program,
                       StartedAs(program, found.kind));
  }
  if (found.kind == Kind::kWindowsProgram && code == StatusCode::kUnsupported) {
    return fmt::format("{} is a program of Windows: cairn {} -- {}", program, verb,
                       StartedAs(program, found.kind));
  }
  return "";
}

std::string MistakenForVerb(const std::vector<std::string>& words) {
  const std::string& word = words.front();
  if (!IsFile(word)) return "";
  const Recognised found = Recognise(word);
  if (found.kind == Kind::kCairn) {
    return fmt::format("{} is a .cairn file, not a command of cairn: cairn report {}", word,
                       Joined(words));
  }
  if (!IsProgram(found.kind)) return "";
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  return fmt::format("{} is {}, not a command of cairn: cairn run -- {}{}{}", word,
                     ProgramInWords(found.kind), StartedAs(word, found.kind),
                     rest.empty() ? "" : " ", Joined(rest));
}

std::string MistakenForFileBeforeDashes(std::string_view verb,
                                        const std::vector<std::string>& options,
                                        const std::vector<std::string>& program) {
  const std::string& word = program.front();
  if (!IsFile(word) && IsFile(word + ".cairn")) return "";
  const Recognised found = RecogniseProgram(word);
  if (!IsProgram(found.kind)) return "";
  const std::vector<std::string> rest(program.begin() + 1, program.end());
  return fmt::format("{} is {}: cairn {}{}{} -- {}{}{}", word, ProgramInWords(found.kind), verb,
                     options.empty() ? "" : " ", Joined(options), StartedAs(word, found.kind),
                     rest.empty() ? "" : " ", Joined(rest));
}

}  // namespace cairn::cli
