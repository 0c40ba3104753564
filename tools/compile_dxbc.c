// SPDX-License-Identifier: Apache-2.0
//
// compile_dxbc PROFILE NAME: compiles the HLSL on standard input with
// D3DCompile, entry point main, and writes the DXBC to standard output.
// PROFILE is a shader profile such as cs_5_0; NAME stands for the source in
// compiler messages, which go to standard error. What it includes lies in the
// current folder.
// Exits 0 when the bytes are written, 1 when compiling or writing failed, 2 on
// wrong usage.
//
// A Windows program, built and run by tools/compile-dxbc. It does no more than
// the call: what to compile and where to put it is the script's business.

#include <d3dcompiler.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>

// Far above any shader here; more than this is a mistake, not a shader.
#define MAX_SOURCE_BYTES (1u << 20)

static char source[MAX_SOURCE_BYTES];

static void PrintMessages(ID3DBlob* messages) {
  if (messages == NULL) return;
  fprintf(stderr, "%s", (const char*)messages->lpVtbl->GetBufferPointer(messages));
  messages->lpVtbl->Release(messages);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: compile_dxbc PROFILE NAME <source.hlsl >shader.dxbc\n");
    return 2;
  }
  const char* profile = argv[1];
  const char* name = argv[2];

  _setmode(_fileno(stdin), _O_BINARY);
  _setmode(_fileno(stdout), _O_BINARY);
  size_t source_bytes = fread(source, 1, sizeof(source), stdin);
  if (source_bytes == 0 || source_bytes == sizeof(source)) {
    fprintf(stderr, "%s: empty, unreadable, or not below %u bytes\n", name, MAX_SOURCE_BYTES);
    return 2;
  }

  ID3DBlob* code = NULL;
  ID3DBlob* messages = NULL;
  HRESULT result = D3DCompile(source, source_bytes, name, NULL, D3D_COMPILE_STANDARD_FILE_INCLUDE,
                              "main", profile, D3DCOMPILE_ENABLE_STRICTNESS, 0, &code, &messages);
  PrintMessages(messages);
  if (FAILED(result)) {
    fprintf(stderr, "%s: D3DCompile for %s returned 0x%08lx\n", name, profile,
            (unsigned long)result);
    return 1;
  }

  size_t code_bytes = code->lpVtbl->GetBufferSize(code);
  size_t written_bytes = fwrite(code->lpVtbl->GetBufferPointer(code), 1, code_bytes, stdout);
  if (written_bytes != code_bytes || fflush(stdout) != 0) {
    fprintf(stderr, "%s: wrote %lu of %lu bytes to standard output\n", name,
            (unsigned long)written_bytes, (unsigned long)code_bytes);
    return 1;
  }
  code->lpVtbl->Release(code);
  return 0;
}
