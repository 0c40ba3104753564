// SPDX-License-Identifier: Apache-2.0
//
// compile_dxil DLL [SOURCE PROFILE OUTPUT]...: compiles each HLSL file with the dxcompiler.dll DLL and writes the
// DXIL container to OUTPUT. The entry point is main; a library (lib_6_3) has none. Without files it prints the
// compiler's version.
// Exits 0 when all is written, 1 when something does not compile or cannot be read or written, 2 on wrong usage.
//
// A Windows program, built and run by tools/compile-dxil. mingw-w64 has no dxcapi.h: what is called of it is declared
// here.

#include <unknwn.h>
#include <windows.h>

#include <cstdio>
#include <cwchar>
#include <string>
#include <vector>

namespace {

struct DxcBuffer {
  const void* bytes;
  SIZE_T size_bytes;
  UINT encoding;
};

struct IDxcBlob : IUnknown {
  virtual void* STDMETHODCALLTYPE GetBufferPointer() = 0;
  virtual SIZE_T STDMETHODCALLTYPE GetBufferSize() = 0;
};

// With the methods of IDxcOperationResult, which it is derived from.
struct IDxcResult : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE GetStatus(HRESULT* status) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetResult(IDxcBlob** result) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetErrorBuffer(IDxcBlob** errors) = 0;
  virtual BOOL STDMETHODCALLTYPE HasOutput(UINT kind) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetOutput(UINT kind, REFIID iid, void** output,
                                              IUnknown** name) = 0;
};

struct IDxcCompiler3 : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE Compile(const DxcBuffer* source, const wchar_t** arguments,
                                            UINT32 argument_count, IUnknown* include_handler,
                                            REFIID iid, void** result) = 0;
};

struct IDxcVersionInfo : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE GetVersion(UINT32* major, UINT32* minor) = 0;
};

constexpr UINT kObject = 1;  // DXC_OUT_OBJECT
constexpr UINT kErrors = 2;  // DXC_OUT_ERRORS
constexpr CLSID kCompilerClass = {
    0x73e22d93, 0xe6ce, 0x47f3, {0xb5, 0xbf, 0xf0, 0x66, 0x4f, 0x39, 0xc1, 0xb0}};
constexpr IID kCompiler3 = {
    0x228b4687, 0x5a6a, 0x4730, {0x90, 0x0c, 0x97, 0x02, 0xb2, 0x20, 0x3f, 0x54}};
constexpr IID kResult = {
    0x58346cda, 0xdde7, 0x4497, {0x94, 0x61, 0x6f, 0x87, 0xaf, 0x5e, 0x06, 0x59}};
constexpr IID kBlob = {
    0x8ba5fb08, 0x5195, 0x40e2, {0xac, 0x58, 0x0d, 0x98, 0x9c, 0x3a, 0x01, 0x02}};
constexpr IID kVersionInfo = {
    0xb04f5b50, 0x2059, 0x4f12, {0xa8, 0xff, 0xa1, 0xe0, 0xcd, 0xe1, 0xcc, 0x7e}};

using CreateInstance = HRESULT(WINAPI*)(REFCLSID, REFIID, void**);

// Prints "compile_dxil: WHAT: 0x80004005" and returns 1, the exit code.
int Failed(const wchar_t* what, unsigned long code) {
  std::fprintf(stderr, "compile_dxil: %ls: 0x%08lx\n", what, code);
  return 1;
}

// Empty if it cannot be read.
std::string ReadFile(const wchar_t* path) {
  std::string bytes;
  std::FILE* const file = _wfopen(path, L"rb");
  if (file == nullptr) return bytes;
  char part[65536];
  for (size_t got; (got = std::fread(part, 1, sizeof(part), file)) > 0;) bytes.append(part, got);
  std::fclose(file);
  return bytes;
}

bool WriteFile(const wchar_t* path, const void* bytes, size_t size_bytes) {
  std::FILE* const file = _wfopen(path, L"wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(bytes, 1, size_bytes, file) == size_bytes;
  return std::fclose(file) == 0 && written;
}

// Null if there is none, or an empty one.
IDxcBlob* Output(IDxcResult* result, UINT kind) {
  void* blob = nullptr;
  if (!result->HasOutput(kind) || FAILED(result->GetOutput(kind, kBlob, &blob, nullptr))) {
    return nullptr;
  }
  IDxcBlob* const output = static_cast<IDxcBlob*>(blob);
  return output->GetBufferSize() == 0 ? nullptr : output;
}

int PrintVersion(IDxcCompiler3* compiler) {
  void* version = nullptr;
  UINT32 major = 0;
  UINT32 minor = 0;
  HRESULT result = compiler->QueryInterface(kVersionInfo, &version);
  if (SUCCEEDED(result)) {
    result = static_cast<IDxcVersionInfo*>(version)->GetVersion(&major, &minor);
  }
  if (FAILED(result)) return Failed(L"IDxcVersionInfo", result);
  std::printf("dxcompiler %u.%u\n", major, minor);
  return 0;
}

int Compile(IDxcCompiler3* compiler, const wchar_t* path, const wchar_t* profile,
            const wchar_t* output) {
  const std::string source = ReadFile(path);
  if (source.empty())
    return Failed((std::wstring(path) + L" cannot be read").c_str(), GetLastError());
  // Messages, and what the container says of its source, have the file's name alone.
  const wchar_t* const slash = std::wcsrchr(path, L'/');
  std::vector<const wchar_t*> arguments = {slash == nullptr ? path : slash + 1, L"-T", profile,
                                           L"-WX"};
  if (std::wcsncmp(profile, L"lib_", 4) != 0) arguments.insert(arguments.end(), {L"-E", L"main"});
  const DxcBuffer text = {source.data(), source.size(), CP_UTF8};
  void* out = nullptr;
  HRESULT status = compiler->Compile(&text, arguments.data(), static_cast<UINT32>(arguments.size()),
                                     nullptr, kResult, &out);
  if (FAILED(status)) return Failed(L"IDxcCompiler3::Compile", status);
  const auto result = static_cast<IDxcResult*>(out);
  if (IDxcBlob* const errors = Output(result, kErrors)) {
    std::fprintf(stderr, "%.*s", static_cast<int>(errors->GetBufferSize()),
                 static_cast<const char*>(errors->GetBufferPointer()));
  }
  IDxcBlob* const object = Output(result, kObject);
  if (FAILED(result->GetStatus(&status)) || FAILED(status) || object == nullptr) {
    return Failed((std::wstring(path) + L" does not compile as " + profile).c_str(), status);
  }
  if (!WriteFile(output, object->GetBufferPointer(), object->GetBufferSize())) {
    return Failed((std::wstring(output) + L" cannot be written").c_str(), GetLastError());
  }
  return 0;
}

}  // namespace

extern "C" int wmain(int count, wchar_t** words) {
  if (count < 2 || count % 3 != 2) {
    std::fprintf(stderr, "usage: compile_dxil DLL [SOURCE PROFILE OUTPUT]...\n");
    return 2;
  }
  const HMODULE library = LoadLibraryW(words[1]);
  if (library == nullptr) return Failed(words[1], GetLastError());
  const auto create = reinterpret_cast<CreateInstance>(
      reinterpret_cast<void*>(GetProcAddress(library, "DxcCreateInstance")));
  if (create == nullptr) return Failed(L"DxcCreateInstance", GetLastError());
  void* compiler = nullptr;
  if (const HRESULT result = create(kCompilerClass, kCompiler3, &compiler); FAILED(result)) {
    return Failed(L"DxcCreateInstance", result);
  }
  const auto dxc = static_cast<IDxcCompiler3*>(compiler);
  if (count == 2) return PrintVersion(dxc);
  for (int i = 2; i < count; i += 3) {
    if (const int code = Compile(dxc, words[i], words[i + 1], words[i + 2]); code != 0) return code;
  }
  return 0;
}
