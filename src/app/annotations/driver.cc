// SPDX-License-Identifier: Apache-2.0
#include "app/annotations/driver.h"

#include "app/annotations/logging_driver.h"

namespace cairn {

Driver NoDriver() {
  Driver driver;
  driver.name = "none";
  return driver;
}

Result<Driver> OpenDriver(const std::string& name, const CairnDriverHost& host) {
  if (name.empty() || name == "breadcrumb") return BreadcrumbDriver();
  if (name == "logging") return LoggingDriver(host);
  if (name == "none") return NoDriver();
  if (name.find('/') != std::string::npos) return LoadDriver(name, host);
  return Status(StatusCode::kInvalidArgument,
                "CAIRN_DRIVER=" + name +
                    ": no such driver; use breadcrumb, logging, none, or the path of a shared "
                    "library with a slash in it");
}

}  // namespace cairn
