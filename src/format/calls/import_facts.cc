// SPDX-License-Identifier: Apache-2.0
#include "format/calls/import_facts.h"

#include <fmt/format.h>

#include "format/calls/value_decoder.h"

namespace cairn {

std::optional<ImportFacts> ImportOf(const Record& object) {
  std::span<const std::byte> rest = object.body;
  const Result<ObjectBody> body = DecodeBody<ObjectBody>(&rest);
  if (!body.ok() || (body->facts != kImportFacts && body->facts != kResourceFacts)) {
    return std::nullopt;
  }
  if (body->facts == kResourceFacts && !DecodeBody<ResourceFacts>(&rest).ok()) return std::nullopt;
  const Result<ImportFacts> facts = DecodeBody<ImportFacts>(&rest);
  return facts.ok() ? std::optional(*facts) : std::nullopt;
}

std::string ImportText(const ImportFacts& facts) {
  switch (static_cast<ImportSource>(facts.source)) {
    case ImportSource::kAddress: return fmt::format("opened at address 0x{:x}", facts.place);
    case ImportSource::kFileMapping:
      return fmt::format("opened from file mapping 0x{:x}", facts.place);
    case ImportSource::kHandle: return fmt::format("opened from handle 0x{:x}", facts.place);
  }
  return fmt::format("opened in way {}", facts.source);
}

}  // namespace cairn
