// SPDX-License-Identifier: Apache-2.0
//
// Uses libcairn with callbacks of its own, and shows functions by the names of the C++ library and of fmt to
// every library of the process: whoever calls them does not bring its own. They end the program.
#include <fmt/core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <new>
#include <string>

#include "cairn/markers.h"

namespace {

[[noreturn]] void End(const char* what) {
  fprintf(stderr, "the program's own %s was called\n", what);
  _Exit(3);
}

}  // namespace

FMT_BEGIN_NAMESPACE
__attribute__((visibility("default"))) std::string vformat(string_view, format_args) {
  End("fmt::vformat");
}
FMT_END_NAMESPACE

__attribute__((visibility("default"))) void* operator new(size_t) {
  End("operator new");
}
__attribute__((visibility("default"))) void operator delete(void*) noexcept {
  End("operator delete");
}
__attribute__((visibility("default"))) void operator delete(void*, size_t) noexcept {
  End("operator delete");
}

namespace {

CairnResult Allocate(void*, uint64_t size_bytes, CairnCustomBlock* block) {
  block->memory = calloc(1, size_bytes);
  block->buffer = block->memory;
  block->base_address = 0;
  return block->memory == nullptr ? CAIRN_ERROR_OUT_OF_MEMORY : CAIRN_OK;
}
void Free(void*, CairnCustomBlock* block) {
  free(block->memory);
}
// This "GPU" executes at once.
void Write(void*, void*, uint32_t value, uint64_t location, void* buffer, int) {
  memcpy(static_cast<char*>(buffer) + location, &value, sizeof(value));
}

}  // namespace

int main() {
  CairnCustomBackend backend = {};
  backend.struct_size = sizeof(backend);
  backend.allocate_block = Allocate;
  backend.free_block = Free;
  backend.write = Write;
  CairnContextDesc desc = {};
  desc.struct_size = sizeof(desc);
  desc.mode = CAIRN_MODE_FULL;
  CairnContext* context = nullptr;
  if (cairnCreateContextCustom(&desc, &backend, &context) != CAIRN_OK) return 1;
  int native = 0;
  CairnCommandListDesc list_desc = {};
  list_desc.struct_size = sizeof(list_desc);
  list_desc.native = &native;
  list_desc.name = "Main";
  CairnCommandList* list = nullptr;
  if (cairnBeginCommandList(context, &list_desc, &list) != CAIRN_OK) return 1;
  cairnBeginMarker(list, CAIRN_MARKER_DRAW, nullptr, CAIRN_NAME_STATIC);
  char* text = nullptr;
  size_t size_bytes = 0;
  if (cairnPrintStatus(context, 0, &text, &size_bytes) != CAIRN_OK) return 1;
  if (strstr(text, "[>] DRAW #1") == nullptr) return 2;
  puts("[>] DRAW #1");
  free(text);
  return cairnDestroyContext(context) == CAIRN_OK ? 0 : 1;
}
