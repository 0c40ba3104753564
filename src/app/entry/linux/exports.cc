// SPDX-License-Identifier: Apache-2.0
#include "app/entry/linux/exports.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>

namespace cairn {
namespace {

struct DynamicTables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const uint32_t* gnu_hash = nullptr;
  const uint32_t* hash = nullptr;
};

DynamicTables TablesOf(const link_map& map) {
  DynamicTables tables;
  for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
    // The loader has made addresses of these, unless the section is read-only.
    ElfW(Addr) address = entry->d_un.d_ptr;
    if (address < map.l_addr) address += map.l_addr;
    const void* const place = reinterpret_cast<const void*>(address);
    switch (entry->d_tag) {
      case DT_SYMTAB: tables.symbols = static_cast<const ElfW(Sym)*>(place); break;
      case DT_STRTAB: tables.strings = static_cast<const char*>(place); break;
      case DT_GNU_HASH: tables.gnu_hash = static_cast<const uint32_t*>(place); break;
      case DT_HASH: tables.hash = static_cast<const uint32_t*>(place); break;
      default: break;
    }
  }
  return tables;
}

// The table of symbols does not say how long it is; the tables to look names up in do. Exported symbols
// come last in it.
uint32_t CountByGnuHash(const uint32_t* table) {
  const uint32_t bucket_count = table[0];
  const uint32_t first_symbol = table[1];
  const uint32_t bloom_words = table[2];
  const uint32_t* const buckets = table + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* const chains = buckets + bucket_count;
  uint32_t last = 0;
  for (uint32_t i = 0; i < bucket_count; ++i) last = std::max(last, buckets[i]);
  if (last < first_symbol) return first_symbol;
  // The last one of a chain has its lowest bit set.
  while ((chains[last - first_symbol] & 1) == 0) ++last;
  return last + 1;
}

bool IsExportedFunction(const ElfW(Sym) & symbol) {
  const int type = ELF64_ST_TYPE(symbol.st_info);
  const int binding = ELF64_ST_BIND(symbol.st_info);
  const int visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  return symbol.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC) &&
         binding != STB_LOCAL && (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

}  // namespace

std::vector<std::string> ExportedFunctions(void* library, std::string_view prefix) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  const DynamicTables tables = TablesOf(*map);
  if (tables.symbols == nullptr || tables.strings == nullptr) return {};
  uint32_t count = 0;
  if (tables.gnu_hash != nullptr) {
    count = CountByGnuHash(tables.gnu_hash);
  } else if (tables.hash != nullptr) {
    count = tables.hash[1];  // as many chains as symbols
  }
  std::vector<std::string> names;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string_view name = tables.strings + tables.symbols[i].st_name;
    if (name.starts_with(prefix) && IsExportedFunction(tables.symbols[i])) names.emplace_back(name);
  }
  return names;
}

}  // namespace cairn
