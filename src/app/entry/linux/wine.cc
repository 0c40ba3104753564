// SPDX-License-Identifier: Apache-2.0
//
// Loads the Windows half (cairn-d3d.dll) into a program under Wine: this library, which is in the
// process already, has it loaded there.
//
//   1. Wine's ntdll.so has mapped the program, and installs its signal handlers: the last thing that it does before code
//      of Windows runs. So this library stands in front of sigaction.
//   2. It asks Wine to call a function of ours on this thread as soon as the program's libraries are there, before its
//      first instruction (NtQueueApcThread).
//   3. That function has cairn-d3d.dll loaded by Windows' own loader, where no proxy beside the program has brought it in,
//      and gives it our table (os/linux_half.h).
//
// So it does not matter who starts the program and how: a launcher, another program, a service. Nothing of the prefix
// is changed, and no file lies beside the program. Wine's own programs are left alone, and so are all others: they do not
// have ntdll.so. Functions of Wine that are used are those that its own libraries of Linux use.
#include <dlfcn.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "app/entry/linux/entry_next.h"
#include "app/entry/linux/linux_half.h"
#include "app/entry/linux/wine_exports.h"
#include "app/settings/log.h"
#include "format/settings/layer_settings.h"
#include "os/environment.h"

#define CAIRN_WINDOWS_CALL __attribute__((ms_abi))

namespace cairn {
namespace {

// What it exports for the Linux half.
constexpr char kMeetLinux[] = "CairnMeetLinux";

struct UnicodeString {
  uint16_t length_bytes;
  uint16_t room_bytes;
  const char16_t* text;
};

// Parts of structures of Windows, of 64 bits, that have been where they are since its first version.
constexpr size_t kTebPeb = 0x60;
constexpr size_t kPebImage = 0x10;
constexpr size_t kPebLoader = 0x18;
constexpr size_t kLoaderModules = 0x10;  // in the order of loading: the program, ntdll.dll, ...
constexpr size_t kModuleBase = 0x30;

using ApcRoutine = void(CAIRN_WINDOWS_CALL*)(void*, void*, void*);
using CurrentTeb = std::byte* (*)();  // of either convention: there are no arguments
using LoadDll = int32_t(CAIRN_WINDOWS_CALL*)(const char16_t* folders, const uint32_t* flags,
                                             const UnicodeString* name, std::byte** module);
using MeetLinux = bool(CAIRN_WINDOWS_CALL*)(LinuxHalf* half, const char* version);

template <typename T = std::byte*>
T LoadAt(const std::byte* structure, size_t offset) {
  T value;
  std::memcpy(&value, structure + offset, sizeof(value));
  return value;
}

// Valid text of UTF-8 only; "" for any other.
std::u16string Utf16Of(std::string_view utf8) {
  std::u16string wide;
  for (size_t i = 0; i < utf8.size();) {
    const auto first = static_cast<uint8_t>(utf8[i++]);
    const int more = first < 0x80 ? 0 : first < 0xc2 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    uint32_t code = more <= 0 ? first : first & (0x3fu >> more);
    if (more < 0 || utf8.size() - i < static_cast<size_t>(more)) return {};
    for (int j = 0; j < more; ++j, ++i) {
      const auto next = static_cast<uint8_t>(utf8[i]);
      if ((next & 0xc0) != 0x80) return {};
      code = code << 6 | (next & 0x3f);
    }
    if (code > 0x10ffff) return {};
    if (code < 0x10000) {
      wide += static_cast<char16_t>(code);
    } else {
      wide += static_cast<char16_t>(0xd7c0 + (code >> 10));
      wide += static_cast<char16_t>(0xdc00 + (code & 0x3ff));
    }
  }
  return wide;
}

// Wine's name for a file of Linux, whatever letters drives have.
std::u16string NameUnderWine(std::string_view path) {
  std::u16string name = Utf16Of(path);
  if (name.empty()) return name;
  std::replace(name.begin(), name.end(), u'/', u'\\');
  return u"\\\\?\\unix" + name;
}

void SayNotFollowed(const std::string& why) {
  Log(LogLevel::kWarning, "calls of Direct3D are not followed: " + why);
}

// Formats a status of Windows.
std::string InWords(int32_t status) {
  char words[32];
  std::snprintf(words, sizeof(words), ", status 0x%08x", static_cast<uint32_t>(status));
  return words;
}

// NtQueueApcThread for the calling thread. Functions of ntdll.so have Linux' convention in Wine 10, and had that of Windows
// in Wine 8. Called by the first, one of the second finds 0 where the thread is to be, and refuses; the words on the
// stack are those that it may use as its own.
int32_t QueueForThisThread(void* function, ApcRoutine routine, void* argument) {
  using Linux = int32_t (*)(void* thread, ApcRoutine, void*, void*, void*, void*, uint64_t,
                            uint64_t, uint64_t, uint64_t, uint64_t);
  using Windows = int32_t(CAIRN_WINDOWS_CALL*)(void* thread, ApcRoutine, void*, void*, void*);
  constexpr auto kInvalidHandle = static_cast<int32_t>(0xc0000008);
  void* const this_thread = reinterpret_cast<void*>(intptr_t{-2});
  const int32_t status = reinterpret_cast<Linux>(function)(this_thread, routine, argument, nullptr,
                                                           nullptr, nullptr, 0, 0, 0, 0, 0);
  if (status != kInvalidHandle) return status;
  return reinterpret_cast<Windows>(function)(this_thread, routine, argument, nullptr, nullptr);
}

const std::byte* ImageOf(const std::byte* peb) {
  return LoadAt(peb, kPebImage);
}

// Returns the base of ntdll.dll, the second library of each process; null before the loader has
// begun.
const std::byte* BaseOfNtdll(const std::byte* peb) {
  const std::byte* const loader = LoadAt(peb, kPebLoader);
  if (loader == nullptr) return nullptr;
  const std::byte* const program = LoadAt(loader, kLoaderModules);
  return LoadAt(LoadAt(program, 0), kModuleBase);
}

// Returns the export of a Windows half that a proxy beside the program has loaded; null if there is
// none.
MeetLinux FindWindowsHalf(const std::byte* peb) {
  const std::byte* const modules = LoadAt(peb, kPebLoader) + kLoaderModules;
  for (const std::byte* at = LoadAt(modules, 0); at != modules; at = LoadAt(at, 0)) {
    void* const meet = FindExport(LoadAt(at, kModuleBase), kMeetLinux);
    if (meet != nullptr) return reinterpret_cast<MeetLinux>(meet);
  }
  return nullptr;
}

// Null, and it has said why, if that cannot be.
MeetLinux LoadWindowsHalf(const std::byte* peb, const char* path) {
  const std::u16string name = NameUnderWine(path);
  const auto load = reinterpret_cast<LoadDll>(FindExport(BaseOfNtdll(peb), "LdrLoadDll"));
  if (name.empty() || name.size() >= 0x7fff || load == nullptr) {
    SayNotFollowed("this Wine cannot load " + std::string(path));
    return nullptr;
  }
  const auto bytes = static_cast<uint16_t>(name.size() * sizeof(char16_t));
  const UnicodeString text = {bytes, static_cast<uint16_t>(bytes + 2), name.c_str()};
  std::byte* library = nullptr;
  const int32_t status = load(nullptr, nullptr, &text, &library);
  if (status < 0 || library == nullptr) {
    SayNotFollowed(std::string(path) + " cannot be loaded" + InWords(status));
    return nullptr;
  }
  const auto meet = reinterpret_cast<MeetLinux>(FindExport(library, kMeetLinux));
  if (meet == nullptr) SayNotFollowed(std::string(path) + " is no cairn-d3d.dll of today");
  return meet;
}

// Called by Wine as if it were code of Windows, on the program's first thread. The loader has done its work.
CAIRN_WINDOWS_CALL void BringWindowsHalf(void* argument, void*, void*) {
  const auto* const peb = static_cast<const std::byte*>(argument);
  MeetLinux meet = FindWindowsHalf(peb);
  const Setting<std::string> path = ReadSetting<&LayerSettings::windows_path>(OwnVariable);
  if (meet == nullptr && path.is_set()) meet = LoadWindowsHalf(peb, path->c_str());
  if (meet != nullptr && !meet(&ThisLinuxHalf(), CAIRN_LIBRARY_VERSION)) {
    SayNotFollowed("cairn-d3d.dll is not of version " CAIRN_LIBRARY_VERSION
                   ", as libcairn-d3d12.so is");
  }
}

// This process is Wine's, and code of Windows has not run yet.
void OnWineStart(void* ntdll) {
  void* const queue = FindSymbol(ntdll, "NtQueueApcThread");
  const auto teb = reinterpret_cast<CurrentTeb>(FindSymbol(ntdll, "NtCurrentTeb"));
  if (queue == nullptr || teb == nullptr) return;
  std::byte* const peb = LoadAt(teb(), kTebPeb);
  const WineProgram kind = KindOfProgram(ImageOf(peb));
  if (kind == WineProgram::k32Bits) SayNotFollowed("the program is of 32 bits");
  if (kind != WineProgram::kProgram) return;
  if (!ReadSetting<&LayerSettings::windows_path>(OwnVariable).is_set()) {
    SayNotFollowed("cairn-d3d.dll was not beside libcairn-d3d12.so");
    return;
  }
  const int32_t status = QueueForThisThread(queue, &BringWindowsHalf, peb);
  if (status < 0) SayNotFollowed("this Wine does not let a library in" + InWords(status));
}

void LookForWine() {
  // Wine's is the first of a process. Later ones may come from a handler of that signal, where nothing is looked for.
  static std::atomic<bool> done{false};
  if (done.exchange(true)) return;
  const std::vector<std::string> found = LoadedLibraries("ntdll.so");
  if (found.empty()) return;
  void* const ntdll = dlopen(found.front().c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (ntdll != nullptr) OnWineStart(ntdll);
}

}  // namespace
}  // namespace cairn

extern "C" __attribute__((visibility("default"))) int sigaction(int signal_number,
                                                                const struct sigaction* action,
                                                                struct sigaction* before) {
  using Function = int (*)(int, const struct sigaction*, struct sigaction*);
  static const auto next = reinterpret_cast<Function>(cairn::FindSymbol(RTLD_NEXT, "sigaction"));
  if (signal_number == SIGSEGV && action != nullptr) cairn::LookForWine();
  return next(signal_number, action, before);
}
