// SPDX-License-Identifier: Apache-2.0
//
// Settings of D3DConfig: what a person asks of every Direct3D 12 device of a user, or of the machine,
// without touching the programs. The command `d3dconfig` writes them; the layer reads them once per
// device, when it creates the device. docs/reference/d3dconfig.md is the page for people.
//
// A setting may stand in two places: the user's and the machine's (`--system`, and what an administrator
// changes without saying for whom). A force is in effect if it is on in either; what stands nowhere has its
// default. os/settings_store.h says where they are.
#ifndef CAIRN_FORMAT_D3DCONFIG_SETTINGS_H_
#define CAIRN_FORMAT_D3DCONFIG_SETTINGS_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "os/settings_store.h"

namespace cairn {

// The one setting that there is.
inline constexpr char kForceDriverRetailAnnotations[] = "force-driver-retail-annotations";

struct D3DConfigSettings {
  // Every device starts in DRIVER_RETAIL and stays there, whatever the program sets. There is no
  // force in the other direction.
  bool force_driver_retail_annotations = false;
};

// The settings in effect now. A place that is damaged or cannot be read counts as empty, and
// `warnings` (may be null) gets a line for people that names it. An error only if neither place can be
// named, with the reason. Reads two small files (registry values); keeps nothing. Any thread, as long
// as none changes the environment.
Result<D3DConfigSettings> ReadD3DConfig(std::vector<std::string>* warnings = nullptr);

// What stands in one place: absent settings are not set there.
struct D3DConfigPlace {
  std::optional<bool> force_driver_retail_annotations;
  // Lines of settings that this version does not know; they are kept.
  std::vector<std::string> unknown;
  bool operator==(const D3DConfigPlace&) const = default;
};

using D3DConfigScope = SettingsScope;

// Whom this process sets something for if nobody says it: the system's place for an administrator (on
// Linux the effective user root), the user's otherwise.
D3DConfigScope DefaultD3DConfigScope();

// Empty if nothing was ever set there. kCorrupt if it is damaged.
Result<D3DConfigPlace> ReadD3DConfigPlace(D3DConfigScope scope);

// Reads the place, lets `change` change it, and writes it back, all or nothing: a reader sees what
// stood there before or after, and of two writers at once none is lost. A damaged place is replaced by
// the defaults with that change, and `warnings` (may be null) says so.
Status ChangeD3DConfigPlace(D3DConfigScope scope,
                            const std::function<void(D3DConfigPlace&)>& change,
                            std::vector<std::string>* warnings = nullptr);

// On if either place says so: an administrator's `on` is for every device of the machine, a user's for
// those of the user's programs. Nothing forces the other direction.
D3DConfigSettings CombineD3DConfig(const D3DConfigPlace& user, const D3DConfigPlace& system);

// The file's text, and back: lines NAME=VALUE, comments that start with '#', blank lines. kCorrupt,
// with the line's number, for anything else, for a value that the setting does not have, and for a
// setting that stands there twice. Names that are not known are accepted: a newer version may have
// set them.
Result<std::string> FormatD3DConfig(const D3DConfigPlace& place);
Result<D3DConfigPlace> ParseD3DConfig(std::string_view text);
// A place with more text is damaged; Format gives kInvalidArgument.
inline constexpr size_t kMaxD3DConfigBytes = 65536;
// The names that Parse accepts, known or not.
bool IsD3DConfigName(std::string_view name);

// "on", "off", "true", "false", in any case.
std::optional<bool> ParseD3DConfigSwitch(std::string_view word);

}  // namespace cairn

#endif  // CAIRN_FORMAT_D3DCONFIG_SETTINGS_H_
