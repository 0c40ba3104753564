/* SPDX-License-Identifier: Apache-2.0
 *
 * Uses the installed library from C11: a context on callbacks of its own, one list, one status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cairn/markers.h"

static CairnResult Allocate(void* user_data, uint64_t size_bytes, CairnCustomBlock* block) {
  (void)user_data;
  block->memory = calloc(1, size_bytes);
  block->buffer = block->memory;
  block->base_address = 0;
  return block->memory == NULL ? CAIRN_ERROR_OUT_OF_MEMORY : CAIRN_OK;
}
static void Free(void* user_data, CairnCustomBlock* block) {
  (void)user_data;
  free(block->memory);
}
/* This "GPU" executes at once. */
static void Write(void* user_data, void* list, uint32_t value, uint64_t location, void* buffer,
                  int is_begin) {
  (void)user_data, (void)list, (void)is_begin;
  memcpy((char*)buffer + location, &value, sizeof(value));
}

int main(void) {
  const CairnCustomBackend backend = {.struct_size = sizeof(backend),
                                      .allocate_block = Allocate,
                                      .free_block = Free,
                                      .write = Write};
  const CairnContextDesc desc = {.struct_size = sizeof(desc), .mode = CAIRN_MODE_FULL};
  CairnContext* context = NULL;
  if (cairnCreateContextCustom(&desc, &backend, &context) != CAIRN_OK) return 1;
  int native = 0;
  const CairnCommandListDesc list_desc = {
      .struct_size = sizeof(list_desc), .native = &native, .name = "Main"};
  CairnCommandList* list = NULL;
  if (cairnBeginCommandList(context, &list_desc, &list) != CAIRN_OK) return 1;
  cairnBeginMarker(list, CAIRN_MARKER_PASS, "Opaque", CAIRN_NAME_STATIC);
  cairnBeginMarker(list, CAIRN_MARKER_DRAW, NULL, CAIRN_NAME_STATIC);
  char* text = NULL;
  size_t size_bytes = 0;
  if (cairnPrintStatus(context, 0, &text, &size_bytes) != CAIRN_OK) return 1;
  const int found = strstr(text, "[>] DRAW #1") != NULL && strlen(text) == size_bytes;
  fputs(text, stdout);
  free(text);
  return found && cairnDestroyContext(context) == CAIRN_OK ? 0 : 1;
}
