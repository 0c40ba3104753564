// SPDX-License-Identifier: Apache-2.0
//
// The settings of the layers. A person, `cairn run`, other verbs and the watcher pass them to a program by variables of
// its environment. kSettingRows has each of them once; the functions below alone write and read the variables.
// docs/reference/environment.md is the table for people, with who writes and who reads each.
//
// To add one, write a field of LayerSettings, its row, and a line of that table. `cairn run` then takes the option that
// the row names and passes it on; the layers ask Settings() (app/settings/own_settings.h).
#ifndef CAIRN_FORMAT_SETTINGS_LAYER_SETTINGS_H_
#define CAIRN_FORMAT_SETTINGS_LAYER_SETTINGS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "format/block/block.h"

namespace cairn {

// A value. It is made with its default; a value that is assigned counts as set.
template <typename T>
class Setting {
 public:
  Setting() = default;
  explicit Setting(T otherwise) : value_(std::move(otherwise)) {}
  Setting& operator=(T value) {
    value_ = std::move(value);
    is_set_ = true;
    return *this;
  }

  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }
  // Returns true if the variable is there, also if its text is empty or means nothing.
  bool is_set() const { return is_set_; }
  bool operator==(const Setting&) const = default;

 private:
  T value_{};
  bool is_set_ = false;
};

enum class DeviceFaultUse : uint8_t { kAuto, kOn, kOff };
enum class LogLevel : uint8_t { kOff = 0, kError = 1, kWarning = 2, kInfo = 3, kDebug = 4 };

// CAIRN_CAPTURE: "off" or "on[,armed][,frames=A-B][,hash][,hash-resources]".
struct CaptureSettings {
  bool on = false;
  bool armed = false;                  // wait until the watcher asks for the beginning
  uint64_t start_frame = 0;            // frames=A-B: the first that is recorded
  uint64_t stop_frame = ~uint64_t{0};  // B + 1: the first that is not; frames=A- has none
  bool hash_frames = false;
  bool hash_resources = false;

  bool operator==(const CaptureSettings&) const = default;
};

struct LayerSettings {
  Setting<MarkerMode> breadcrumbs{MarkerMode::kTop};
  Setting<bool> all_events;  // events of lists in RUNTIME_ONLY give their names to breadcrumbs
  Setting<CaptureSettings> capture;
  Setting<std::string> capture_tracking;  // a method of app/capture/mapped_memory.h
  Setting<std::string> witnesses;         // FormatWitnessSet
  Setting<DeviceFaultUse> device_fault{DeviceFaultUse::kAuto};
  Setting<std::string> driver{"breadcrumb"};
  Setting<bool> check;
  Setting<LogLevel> log{LogLevel::kWarning};
  Setting<std::string> elimination;       // SharedMemory::PathForOthers of a Board
  Setting<std::string> experiment;        // FormatExperiment
  Setting<std::string> experiment_board;  // SharedMemory::PathForOthers of a ExperimentBoard
  Setting<std::string> windows_path;      // of cairn-d3d.dll, a path of Linux: under Wine
  Setting<std::string> amd_ags;           // path of AMD's library
  // The watcher's end: TextOfInherited of os/channel.h ("N" of a socket, or "N:INODE" with the number that fstat gives
  // it: a launcher may have closed the socket, and N be another one by now), and FormatWatcherAddress.
  Setting<std::string> watcher_fd;
  Setting<std::string> watcher_address;

  bool operator==(const LayerSettings&) const = default;
};

using SettingField =
    std::variant<Setting<MarkerMode> LayerSettings::*, Setting<bool> LayerSettings::*,
                 Setting<DeviceFaultUse> LayerSettings::*, Setting<LogLevel> LayerSettings::*,
                 Setting<CaptureSettings> LayerSettings::*, Setting<std::string> LayerSettings::*>;

// A word of a variable, and the enumerator or truth value that it stands for.
struct SettingWord {
  constexpr SettingWord() = default;
  template <typename T>
  constexpr SettingWord(std::string_view word, T meaning)
      : text(word), value(static_cast<int>(meaning)) {}

  std::string_view text;
  int value = 0;
};

// An option of `cairn run`: "--name", its kind of value, and its help.
struct SettingOption {
  const char* name = nullptr;
  const char* type = nullptr;
  const char* help = nullptr;
};

struct SettingRow {
  SettingField field;
  const char* variable;
  SettingWord words[5] = {};             // all that it may be; empty: text
  SettingOption option = {};             // null: `cairn run` has none, or sets the field itself
  const char* vulkan_setting = nullptr;  // its name for VK_EXT_layer_settings; null: none
};

inline constexpr SettingRow kSettingRows[] = {
    {&LayerSettings::breadcrumbs,
     "CAIRN_BREADCRUMBS",
     {{"off", MarkerMode::kOff},
      {"top", MarkerMode::kTop},
      {"pass", MarkerMode::kPass},
      {"full", MarkerMode::kFull},
      {"exact", MarkerMode::kExact}},
     {"--breadcrumbs", "MODE",
      "How much the GPU writes for a Direct3D 12 or Vulkan program: off, top (where work begins; "
      "the default), pass (also where passes end), full (also where all work ends) or exact "
      "(full, and one command at a time: for a crash that can be repeated)"},
     "breadcrumbs"},
    {&LayerSettings::all_events,
     "CAIRN_EVENTS",
     {{"all", true}, {"retail", false}},
     {"--events", "WHOSE",
      "Which Direct3D 12 events and markers name breadcrumbs: all (the default), or retail (only "
      "those of objects in annotation mode DRIVER_RETAIL; others are not recorded)"}},
    {&LayerSettings::capture, "CAIRN_CAPTURE"},
    {&LayerSettings::capture_tracking, "CAIRN_CAPTURE_TRACKING"},
    {&LayerSettings::witnesses, "CAIRN_WITNESSES"},
    {&LayerSettings::device_fault,
     "CAIRN_DEVICE_FAULT",
     {{"auto", DeviceFaultUse::kAuto}, {"on", DeviceFaultUse::kOn}, {"off", DeviceFaultUse::kOff}},
     {},
     "device_fault"},
    {&LayerSettings::driver, "CAIRN_DRIVER"},
    {&LayerSettings::check, "CAIRN_CHECK", {{"0", false}, {"1", true}}},
    {&LayerSettings::log,
     "CAIRN_LOG",
     {{"off", LogLevel::kOff},
      {"error", LogLevel::kError},
      {"warning", LogLevel::kWarning},
      {"info", LogLevel::kInfo},
      {"debug", LogLevel::kDebug}}},
    {&LayerSettings::elimination, "CAIRN_ELIMINATION"},
    {&LayerSettings::experiment, "CAIRN_EXPERIMENT"},
    {&LayerSettings::experiment_board, "CAIRN_EXPERIMENT_BOARD"},
    {&LayerSettings::windows_path, "CAIRN_WINDOWS_LAYER_PATH"},
    {&LayerSettings::amd_ags, "CAIRN_AMD_AGS"},
    {&LayerSettings::watcher_fd, "CAIRN_WATCHER_FD"},
    {&LayerSettings::watcher_address, "CAIRN_WATCHER_ADDRESS"},
};

template <auto kField>
constexpr const SettingRow* FindSettingRow() {
  for (const SettingRow& row : kSettingRows) {
    const auto* const field = std::get_if<std::remove_const_t<decltype(kField)>>(&row.field);
    if (field != nullptr && *field == kField) return &row;
  }
  return nullptr;
}
// The row of a field, kRowOf<&LayerSettings::check>. A field without one does not compile.
template <auto kField>
inline constexpr const SettingRow& kRowOf = *FindSettingRow<kField>();
template <auto kField>
inline constexpr const char* kVariableOf = kRowOf<kField>.variable;

// Answers like getenv: OwnVariable of os/environment.h in programs.
using GetVariable = std::function<const char*(const char* variable)>;

// Reads every variable. A text that means nothing counts as the default, as an empty one does; `complaints`, if it is
// not null, gets a line with the variable, its text and what is used instead.
LayerSettings ParseLayerSettings(const GetVariable& get,
                                 std::vector<std::string>* complaints = nullptr);

// Returns "NAME=value" of every field that is set. ParseLayerSettings reads the same fields from them; but an empty text
// is the default, and a text ends with its first zero byte, as everything in an environment does.
std::vector<std::string> FormatLayerSettings(const LayerSettings& settings);

// Reads one field from `text`, which may be null, as ParseLayerSettings does. A complaint names `source`.
void ParseSetting(const SettingRow& row, const char* text, const std::string& source,
                  LayerSettings* settings, std::vector<std::string>* complaints);
// Returns "NAME=value" of one field, set or not.
std::string FormatSetting(const SettingRow& row, const LayerSettings& settings);

// Reads one variable alone.
template <auto kField>
auto ReadSetting(const GetVariable& get) {
  LayerSettings settings;
  ParseSetting(kRowOf<kField>, get(kVariableOf<kField>), kVariableOf<kField>, &settings, nullptr);
  return settings.*kField;
}
// Returns "NAME=value" of one variable alone.
template <auto kField, typename T>
std::string FormatSetting(T value) {
  LayerSettings settings;
  settings.*kField = std::move(value);
  return FormatSetting(kRowOf<kField>, settings);
}

// Returns the word of a row's value; "" if it has none.
std::string_view SettingWordOf(const SettingRow& row, int value);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SETTINGS_LAYER_SETTINGS_H_
