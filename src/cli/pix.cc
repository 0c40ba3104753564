// SPDX-License-Identifier: Apache-2.0
//
// cairn pix decode: what the bytes of a PIX event say.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/verb.h"
#include "format/pix/pix_event.h"
#include "os/file.h"

namespace cairn::cli {
namespace {

constexpr char kVerb[] = "pix";
constexpr char kPixExamples[] =
    "HEX is bytes as they lie in memory; blanks, commas and 0x between them do not matter. A FILE "
    "holds\n"
    "the bytes, or HEX. - reads standard input. A file whose name is HEX is written ./NAME.\n"
    "\n"
    "Examples:\n"
    "  cairn pix decode payload.bin                           the bytes of a file\n"
    "  cairn pix decode --qwords 0000000000033083 cccccccccccccccc 0000006f6c6c6548\n"
    "                                                         64-bit numbers, as debuggers show "
    "them\n"
    "  cairn pix decode --metadata 1 536861646f7773           a string\n"
    "  xxd -p payload.bin | cairn pix decode --json -         for programs; "
    "docs/formats/pix.schema.json\n"
    "\n"
    "The exit code is 0 if the event is whole, 1 if it is not or cannot be read.";

// More than any program puts into one event; a wrong file should not fill the memory.
constexpr size_t kMaxInputBytes = size_t{64} << 20;

struct PixOptions {
  std::string action;
  std::vector<std::string> input;
  std::string metadata = "2";
  bool qwords = false;
  bool json = false;
};

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',';
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The digits of each word; nothing if `text` is not HEX.
std::optional<std::vector<std::string>> HexWords(std::string_view text) {
  std::vector<std::string> words(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsBlank(text[i])) {
      if (!words.back().empty()) words.emplace_back();
    } else if (words.back().empty() &&
               (text.substr(i).starts_with("0x") || text.substr(i).starts_with("0X"))) {
      ++i;
    } else if (HexDigit(text[i]) >= 0) {
      words.back() += text[i];
    } else {
      return std::nullopt;
    }
  }
  if (words.back().empty()) words.pop_back();
  if (words.empty()) return std::nullopt;
  return words;
}

Result<std::vector<std::byte>> BytesOfWords(const std::vector<std::string>& words, bool qwords) {
  std::vector<std::byte> bytes;
  for (const std::string& word : words) {
    if (qwords && word.size() > 16) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("'{}' has {} digits; a qword has at most 16", word, word.size()));
    }
    const std::string digits = qwords ? std::string(16 - word.size(), '0') + word : word;
    if (digits.size() % 2 != 0) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("'{}' has {} digits; bytes have two each", word, word.size()));
    }
    const size_t start = bytes.size();
    for (size_t i = 0; i < digits.size(); i += 2) {
      bytes.push_back(static_cast<std::byte>(HexDigit(digits[i]) * 16 + HexDigit(digits[i + 1])));
    }
    if (qwords) std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(start), bytes.end());
  }
  return bytes;
}

Result<std::string> ReadAll(const std::string& path) {
  const bool is_stdin = path == "-";
  std::FILE* file = is_stdin ? stdin : OpenStream(path);
  if (file == nullptr) {
    return StatusFromErrno(errno,
                           fmt::format("'{}' is not HEX, and no file that can be opened", path));
  }
  std::string content;
  char buffer[65536];
  size_t count = 0;
  while (content.size() <= kMaxInputBytes &&
         (count = std::fread(buffer, 1, sizeof(buffer), file)) > 0) {
    content.append(buffer, count);
  }
  const bool failed = std::ferror(file) != 0;
  const int error = errno;
  if (!is_stdin) std::fclose(file);
  if (failed) return StatusFromErrno(error, fmt::format("{} cannot be read", path));
  if (content.size() > kMaxInputBytes) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} is longer than {} bytes: no event is", path, kMaxInputBytes));
  }
  return content;
}

Result<std::vector<std::byte>> ReadInput(const PixOptions& options) {
  const std::string joined = fmt::format("{}", fmt::join(options.input, " "));
  if (const auto words = HexWords(joined)) return BytesOfWords(*words, options.qwords);
  if (options.input.size() > 1) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("'{}' is not HEX, and only one file can be decoded", joined));
  }
  Result<std::string> content = ReadAll(options.input.front());
  if (!content.ok()) return content.status();
  if (const auto words = HexWords(*content)) return BytesOfWords(*words, options.qwords);
  if (options.qwords) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} holds no HEX, which --qwords needs", options.input.front()));
  }
  const auto bytes = std::as_bytes(std::span(*content));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Result<uint32_t> ParseMetadata(const std::string& text) {
  uint32_t metadata = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, metadata);
  if (error == std::errc() && rest == end) return metadata;
  return Status(StatusCode::kInvalidArgument,
                fmt::format("--metadata: '{}' is not a number from 0 to 4294967295; 0 is UTF-16, 1 "
                            "ANSI, 2 and {} are blobs",
                            text, kPixMetadataBlobV2));
}

std::string ColourInWords(const PixColour& colour) {
  if (colour.kind == PixColourKind::kPalette) return fmt::format("palette {}", colour.value);
  const uint32_t alpha = colour.value >> 24;
  const std::string rgb = fmt::format("#{:06x}", colour.value & 0xFFFFFF);
  return alpha == 0xFF ? rgb : fmt::format("{}, alpha {}", rgb, alpha);
}

std::string ArgumentInWords(const PixArgument& argument) {
  switch (argument.type) {
    case PixArgumentType::kSigned: return fmt::to_string(static_cast<int64_t>(argument.bits));
    case PixArgumentType::kUnsigned: return fmt::to_string(argument.bits);
    case PixArgumentType::kFloat: return fmt::to_string(std::bit_cast<double>(argument.bits));
    case PixArgumentType::kString: return fmt::format("\"{}\"", VisibleText(argument.text));
    case PixArgumentType::kNullString: return "null";
    case PixArgumentType::kCharacter:
    case PixArgumentType::kPointer:
    case PixArgumentType::kRaw: break;
  }
  return fmt::format("{:#x}", argument.bits);
}

std::string EventInWords(const PixEvent& event) {
  fmt::memory_buffer text;
  const auto add = [&](std::string_view name, const std::string& value) {
    fmt::format_to(std::back_inserter(text), "  {:<10}{}\n", name, value);
  };
  fmt::format_to(std::back_inserter(text), "{}\n", VisibleText(event.text));
  add("format", PixFormatName(event.format));
  if (event.kind != PixKind::kUnknown) add("kind", PixKindName(event.kind));
  if (event.colour.kind != PixColourKind::kNone) add("colour", ColourInWords(event.colour));
  if (event.context.has_value()) add("context", fmt::format("{:#018x}", *event.context));
  if (event.timestamp != 0) add("timestamp", fmt::to_string(event.timestamp));
  if (event.name != event.text && !event.name.empty()) add("name", VisibleText(event.name));
  for (size_t i = 0; i < event.arguments.size(); ++i) {
    const PixArgument& argument = event.arguments[i];
    add(i == 0 ? "arguments" : "",
        fmt::format("{:<12}{}", PixArgumentTypeName(argument.type), ArgumentInWords(argument)));
  }
  return std::string(text.data(), text.size());
}

void WriteArgument(const PixArgument& argument, JsonWriter* json) {
  json->BeginObject();
  json->StringKey("type", PixArgumentTypeName(argument.type));
  json->StringKey("bits", fmt::format("{:#018x}", argument.bits));
  switch (argument.type) {
    case PixArgumentType::kSigned:
      json->SignedKey("value", static_cast<int64_t>(argument.bits));
      break;
    case PixArgumentType::kUnsigned: json->NumberKey("value", argument.bits); break;
    case PixArgumentType::kFloat:
      json->RealKey("value", std::bit_cast<double>(argument.bits));
      break;
    case PixArgumentType::kString: json->StringKey("value", argument.text); break;
    default: break;
  }
  json->EndObject();
}

std::string EventAsJson(uint32_t metadata, uint64_t size_bytes, const PixEvent& event) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.StringKey("format", "cairn-pix");
  json.NumberKey("version", 1);
  json.NumberKey("metadata", metadata);
  json.NumberKey("size_bytes", size_bytes);
  json.StringKey("encoding", PixFormatName(event.format));
  json.StringKey("kind", PixKindName(event.kind));
  json.StringKey("text", event.text);
  json.StringKey("name", event.name);
  if (event.colour.kind == PixColourKind::kPalette) json.NumberKey("palette", event.colour.value);
  if (event.colour.kind == PixColourKind::kArgb) {
    json.StringKey("colour", fmt::format("#{:08x}", event.colour.value));
  }
  if (event.context.has_value()) {
    json.StringKey("context", fmt::format("{:#018x}", *event.context));
  }
  if (event.timestamp != 0) json.NumberKey("timestamp", event.timestamp);
  json.BeginArray("arguments");
  for (const PixArgument& argument : event.arguments) WriteArgument(argument, &json);
  json.EndArray();
  json.BoolKey("complete", event.complete);
  if (!event.complete) json.StringKey("problem", event.problem);
  json.EndObject();
  return text;
}

int UsageError(const std::string& message) {
  PrintError(kVerb, message);
  return kExitUsage;
}

int Run(const PixOptions& options) {
  if (options.action.empty()) {
    return UsageError("say what to do: cairn pix decode HEX; see cairn pix --help");
  }
  if (options.action != "decode") {
    return UsageError(
        fmt::format("unknown action '{}'; there is: decode; see cairn pix --help", options.action));
  }
  if (options.input.empty()) {
    return UsageError("no bytes are given; say HEX, a file, or - for standard input");
  }
  const Result<uint32_t> metadata = ParseMetadata(options.metadata);
  if (!metadata.ok()) return UsageError(metadata.status().message());
  const Result<std::vector<std::byte>> bytes = ReadInput(options);
  if (!bytes.ok()) {
    PrintError(kVerb, bytes.status().message());
    return bytes.status().code() == StatusCode::kInvalidArgument ? kExitUsage : kExitFailed;
  }
  const PixEvent event = DecodePixEvent(*metadata, *bytes);
  const std::string output =
      options.json ? EventAsJson(*metadata, bytes->size(), event) : EventInWords(event);
  const bool written = PrintOutput(kVerb, output);
  if (!event.complete) PrintWarning(kVerb, event.problem);
  return written && event.complete ? 0 : kExitFailed;
}

}  // namespace

Verb AddPixVerb(CLI::App& root) {
  auto options = std::make_shared<PixOptions>();
  Command command(root, "pix",
                  "Decodes the bytes of a PIX event or marker, as a debugger shows them at pData.",
                  "cairn pix decode [OPTIONS] HEX|FILE|-", kPixExamples);
  command.Option("action", &options->action, "decode", "The action");
  command.Option("input", &options->input, "HEX|FILE|-", "The bytes at pData");
  command.Option("--metadata", &options->metadata, "NUMBER",
                 "The Metadata value passed with the bytes (default: 2, a blob)");
  command.Flag("--qwords", &options->qwords, "HEX is 64-bit numbers, one a word");
  command.Json(&options->json);
  return {command.app(), [options] { return Run(*options); }};
}

}  // namespace cairn::cli
