// SPDX-License-Identifier: Apache-2.0
#include "os/library.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace cairn {
namespace {

constexpr const char* kLibrary = "libm.so.6";

int OwnFunction() {
  return 1;
}

TEST(Library, AFunctionOfALoadedLibraryIsCalled) {
  Result<Library> library = Library::Load(kLibrary);
  ASSERT_TRUE(library.ok()) << library.status().message();
  const auto root = library->Find<double (*)(double)>("sqrt");
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(root(9), 3);
  EXPECT_EQ(library->Find<void (*)()>("cairn_no_such_function"), nullptr);
  const Library again = Library::FindLoaded(kLibrary);
  EXPECT_EQ(again.Find<double (*)(double)>("sqrt"), root);
}

TEST(Library, ALoadedOneOutlivesItsObject) {
  double (*root)(double) = nullptr;
  {
    Result<Library> library = Library::Load(kLibrary);
    ASSERT_TRUE(library.ok());
    root = library->Find<double (*)(double)>("sqrt");
    const Library moved = std::move(*library);
    EXPECT_EQ(library->Find<void*>("sqrt"), nullptr);
    EXPECT_EQ(moved.Find<double (*)(double)>("sqrt"), root);
  }
  EXPECT_EQ(root(16), 4);
}

TEST(Library, WhatIsNotThereIsNotFound) {
  const Result<Library> library = Library::Load("libcairn-no-such-library.so");
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.status().code(), StatusCode::kNotFound);
  EXPECT_NE(library.status().message().find("libcairn-no-such-library.so"), std::string::npos);
  const Library none = Library::FindLoaded("libcairn-no-such-library.so");
  EXPECT_EQ(none.Find<void*>("sqrt"), nullptr);
}

TEST(Library, AnAddressLiesInItsLibrary) {
  Result<Library> library = Library::Load(kLibrary);
  ASSERT_TRUE(library.ok());
  const std::filesystem::path path = LibraryPathOf(library->Find<void*>("sqrt"));
  EXPECT_EQ(path.filename(), kLibrary);
  const std::filesystem::path own = LibraryPathOf(reinterpret_cast<const void*>(&OwnFunction));
  EXPECT_EQ(own.filename(), "os_library_test");
  EXPECT_EQ(LibraryPathOf(nullptr), "");
  const int local = OwnFunction();
  EXPECT_EQ(LibraryPathOf(&local), "") << "on the stack";
}

TEST(Library, NamesAreTheLastPartOfPaths) {
  const void* const own = reinterpret_cast<const void*>(&OwnFunction);
  EXPECT_EQ(LibraryNameOf(own), std::filesystem::path(LibraryPathOf(own)).filename().string());
  EXPECT_NE(LibraryNameOf(own), "");
  EXPECT_EQ(LibraryNameOf(nullptr), "");
}

TEST(Library, ASharedFunctionLiesInAnotherLibrary) {
  const void* const own = reinterpret_cast<const void*>(&OwnFunction);
  EXPECT_EQ(FindSharedFunction("cairn_no_such_function", own), nullptr);
#if defined(_WIN32)
  EXPECT_EQ(FindSharedFunction("malloc", own), nullptr);
#else
  void* const found = FindSharedFunction("getpid", own);
  EXPECT_NE(found, nullptr);
  EXPECT_EQ(FindSharedFunction("getpid", found), nullptr);
#endif
}

TEST(Library, FilesHaveTheNamesOfTheSystem) {
#if defined(_WIN32)
  EXPECT_EQ(LibraryFile("vulkan", 1), "vulkan-1.dll");
#else
  EXPECT_EQ(LibraryFile("vulkan", 1), "libvulkan.so.1");
#endif
}

}  // namespace
}  // namespace cairn
