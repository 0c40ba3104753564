// SPDX-License-Identifier: Apache-2.0
#include "app/annotations/driver.h"

#include "app/annotations/logging_driver.h"
#include "format/settings/layer_settings.h"

namespace cairn {

Driver NoDriver() {
  Driver driver;
  driver.name = "none";
  return driver;
}

namespace {

// Returns true if `name` is a path and no driver's name: it has a slash, or on Windows a backslash
// or a drive.
bool IsPath(const std::string& name) {
  const bool has_drive = name.size() > 2 && name[1] == ':';
  return has_drive || name.find_first_of("/\\") != std::string::npos;
}

}  // namespace

Result<Driver> OpenDriver(const std::string& name, const CairnDriverHost& host) {
  if (name.empty() || name == "breadcrumb") return BreadcrumbDriver();
  if (name == "logging") return LoggingDriver(host);
  if (name == "none") return NoDriver();
  if (IsPath(name)) return LoadDriver(name, host);
  return Status(StatusCode::kInvalidArgument,
                FormatSetting<&LayerSettings::driver>(name) +
                    ": no such driver; use breadcrumb, logging, none, or the path of a shared "
                    "library, with a slash or a backslash in it");
}

}  // namespace cairn
