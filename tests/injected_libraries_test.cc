// SPDX-License-Identifier: Apache-2.0
//
// What the libraries that run in programs of others need and show: libcairn.so, and libcairn-d3d12.so, which
// `cairn run` preloads and the Vulkan loader opens. Whatever a program brings itself must not meet them.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::Contains;
using ::testing::IsSubsetOf;

const std::filesystem::path kSource = CAIRN_SOURCE_DIR;
const std::filesystem::path kBinary = CAIRN_BINARY_DIR;

struct Library {
  std::vector<std::string> needed;
  std::set<std::string> exported;
  std::set<std::string> imported;
  std::set<std::string> versions;  // of the C library that it needs: "GLIBC_2.14"
  bool stays = false;              // dlclose does not unload it
};

template <typename T>
const T* At(const std::string& bytes, size_t offset) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) std::abort();
  return reinterpret_cast<const T*>(bytes.data() + offset);
}

// Returns the versions in a list of needed libraries; `strings` has their names.
std::set<std::string> NeededVersions(const std::string& bytes, const Elf64_Shdr& list,
                                     const Elf64_Shdr& strings) {
  std::set<std::string> versions;
  size_t place = list.sh_offset;
  for (size_t i = 0; i < list.sh_info; ++i) {
    const auto& library = *At<Elf64_Verneed>(bytes, place);
    size_t place_of_version = place + library.vn_aux;
    for (size_t k = 0; k < library.vn_cnt; ++k) {
      const auto& version = *At<Elf64_Vernaux>(bytes, place_of_version);
      versions.insert(At<char>(bytes, strings.sh_offset + version.vna_name));
      place_of_version += version.vna_next;
    }
    place += library.vn_next;
  }
  return versions;
}

Library Read(const std::filesystem::path& path) {
  const std::string bytes = ReadFile(path);
  const auto& header = *At<Elf64_Ehdr>(bytes, 0);
  const auto section = [&](size_t index) -> const Elf64_Shdr& {
    return *At<Elf64_Shdr>(bytes, header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto text = [&](const Elf64_Shdr& of, uint64_t place) {
    return std::string(At<char>(bytes, section(of.sh_link).sh_offset + place));
  };
  Library library;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr& part = section(i);
    if (part.sh_type == SHT_GNU_verneed)
      library.versions = NeededVersions(bytes, part, section(part.sh_link));
    for (uint64_t place = 0; place < part.sh_size && part.sh_entsize != 0;
         place += part.sh_entsize) {
      if (part.sh_type == SHT_DYNAMIC) {
        const auto& entry = *At<Elf64_Dyn>(bytes, part.sh_offset + place);
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_FLAGS_1) library.stays = (entry.d_un.d_val & DF_1_NODELETE) != 0;
        if (entry.d_tag == DT_NEEDED) library.needed.push_back(text(part, entry.d_un.d_val));
      } else if (part.sh_type == SHT_DYNSYM) {
        const auto& symbol = *At<Elf64_Sym>(bytes, part.sh_offset + place);
        if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
        const bool is_imported = symbol.st_shndx == SHN_UNDEF;
        (is_imported ? library.imported : library.exported).insert(text(part, symbol.st_name));
      }
    }
  }
  return library;
}

// The functions that the public headers declare, and what the copies of libcairn in a process ask each
// other.
std::set<std::string> Declared() {
  const std::regex comment(R"(//[^\n]*)");
  const std::regex function(
      R"(\b(?:CAIRN_API|FFX_API|AMD_AGS_API)\b[^;{#]*?\b((?:cairn|ffx|ags)\w+)\s*\()");
  std::set<std::string> names = {"cairnLayerAbi"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kSource / "include")) {
    if (!entry.is_regular_file()) continue;
    const std::string text = std::regex_replace(ReadFile(entry.path()), comment, "");
    for (std::sregex_iterator found(text.begin(), text.end(), function), end; found != end;
         ++found) {
      names.insert((*found)[1]);
    }
  }
  return names;
}

// The functions that the layer stands in front of: those that its map of symbols names.
std::set<std::string> StoodInFrontOf() {
  const std::string map = ReadFile(kSource / "src/app/entry/libcairn-d3d12.map");
  const std::string names =
      map.substr(map.find("global:"), map.find("local:") - map.find("global:"));
  const std::regex name(R"((\w+);)");
  std::set<std::string> result;
  for (std::sregex_iterator found(names.begin(), names.end(), name), end; found != end; ++found) {
    result.insert((*found)[1]);
  }
  return result;
}

// Its other libraries, and the loader, belong to it. Containers have glibc 2.31.
void ExpectNeedsTheCLibraryAlone(const Library& library) {
  EXPECT_THAT(library.needed, IsSubsetOf({"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0",
                                          "ld-linux-x86-64.so.2"}));
  EXPECT_THAT(library.needed, Contains("libc.so.6"));
  EXPECT_TRUE(library.imported.contains("malloc"));
  for (const std::string& name : library.imported) {
    // Transactional memory, which nobody has: the C++ library looks whether somebody does.
    if (name.starts_with("_ZGTt")) continue;
    EXPECT_FALSE(name.starts_with("_Z")) << name << ", of C++, comes from outside";
    EXPECT_FALSE(name.starts_with("_Unwind")) << name << " comes from outside";
    EXPECT_FALSE(name.starts_with("XXH")) << name << " comes from outside";
  }
}

TEST(InjectedLibraries, TheLibraryNeedsTheCLibraryAlone) {
  const Library library = Read(kBinary / "lib/libcairn.so");
  ExpectNeedsTheCLibraryAlone(library);
}

TEST(InjectedLibraries, TheLayerNeedsTheCLibraryAlone) {
  const Library library = Read(kBinary / "lib/libcairn-d3d12.so");
  ExpectNeedsTheCLibraryAlone(library);
}

// A newer symbol is replaced in cmake/CairnOlderGlibc.cmake or in src/os/linux/newer_glibc.c.
TEST(InjectedLibraries, NoSymbolIsNewerThanGlibc231) {
#if __GLIBC_PREREQ(2, 37)
  GTEST_SKIP() << "packages are made with glibc 2.36: newer headers ask for newer functions";
#endif
  for (const char* name : {"lib/libcairn.so", "lib/libcairn-d3d12.so"}) {
    const std::set<std::string> versions = Read(kBinary / name).versions;
    EXPECT_THAT(versions, Contains("GLIBC_2.2.5")) << name;
    for (const std::string& version : versions) {
      int minor = -1;
      EXPECT_EQ(std::sscanf(version.c_str(), "GLIBC_2.%d", &minor), 1) << name << ": " << version;
      EXPECT_LE(minor, 31) << name;
    }
  }
}

// Threads that recorded something call into it when they end.
TEST(InjectedLibraries, TheyStayWhenAPluginClosesThem) {
  for (const char* name : {"lib/libcairn.so", "lib/libcairn-d3d12.so"}) {
    EXPECT_TRUE(Read(kBinary / name).stays) << name;
  }
}

TEST(InjectedLibraries, TheLibraryShowsItsInterfaceAlone) {
  const std::set<std::string> declared = Declared();
  EXPECT_GE(declared.size(), 60u);
  EXPECT_EQ(Read(kBinary / "lib/libcairn.so").exported, declared);
}

TEST(InjectedLibraries, TheLayerShowsTheInterfaceAndWhatItStandsInFrontOf) {
  std::set<std::string> expected = Declared();
  const std::set<std::string> replaced = StoodInFrontOf();
  EXPECT_TRUE(replaced.contains("D3D12CreateDevice"));
  EXPECT_TRUE(replaced.contains("dlsym"));
  expected.insert(replaced.begin(), replaced.end());
  // Which the layer's manifests name.
  expected.insert({"cairnNegotiateVulkanLayer", "cairnNegotiateWatchedVulkanLayer"});
  EXPECT_EQ(Read(kBinary / "lib/libcairn-d3d12.so").exported, expected);
}

// The program's own operator new and fmt, which end it when they are called.
TEST(InjectedLibraries, WhatTheProgramBringsIsNotUsed) {
  const std::string program = (kBinary / "tests/programs/own_runtime").string();
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{program},
        std::vector<std::string>{Program("cairn"), "run", "--", program}}) {
    const CommandResult result = RunCommand(arguments, {});
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_EQ(result.output, "[>] DRAW #1\n");
  }
}

}  // namespace
}  // namespace cairn::testing
