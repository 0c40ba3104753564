// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "app/annotations/driver.h"
#include "format/settings/layer_settings.h"
#include "os/library.h"

namespace cairn {
namespace {

Status Problem(StatusCode code, const std::string& path, const std::string& what) {
  return Status(code, FormatSetting<&LayerSettings::driver>(path) + ": " + what);
}

// The first function of the table that is missing; null if all are there.
const char* MissingFunction(const D3D12DDI_USER_DEFINED_ANNOTATION_FUNCS_0121& functions) {
  if (functions.pfnCmdQueueBeginEvent == nullptr) return "pfnCmdQueueBeginEvent";
  if (functions.pfnCmdQueueEndEvent == nullptr) return "pfnCmdQueueEndEvent";
  if (functions.pfnCmdQueueSetMarker == nullptr) return "pfnCmdQueueSetMarker";
  if (functions.pfnCmdListBeginEvent == nullptr) return "pfnCmdListBeginEvent";
  if (functions.pfnCmdListEndEvent == nullptr) return "pfnCmdListEndEvent";
  if (functions.pfnCmdListSetMarker == nullptr) return "pfnCmdListSetMarker";
  if (functions.pfnSetName == nullptr) return "pfnSetName";
  return nullptr;
}

// Returns why the driver's answer does not fit the offer; "" if it does.
std::string Mismatch(const CairnDriver& answer, const CairnDriverHost& host) {
  if (answer.supports_0121 == 0) return "";
  const uint32_t version = answer.feature_version == 0
                               ? D3D12DDI_FEATURE_VERSION_USER_DEFINED_ANNOTATIONS_0121_0
                               : answer.feature_version;
  if (version > host.feature_version) {
    return "implements version " + std::to_string(version) + " of the feature; versions up to " +
           std::to_string(host.feature_version) +
           " are known here: use an older driver or a newer Cairn";
  }
  if (answer.ddi_required > host.ddi_supported) {
    return "needs revision " + std::to_string(answer.ddi_required >> 16) +
           " of the driver interface; this is revision " +
           std::to_string(host.ddi_supported >> 16) + ": use an older driver or a newer Cairn";
  }
  if (const char* const missing = MissingFunction(answer.functions)) {
    return std::string("says that it supports feature 0121, but leaves ") + missing + " empty";
  }
  return "";
}

}  // namespace

Result<Driver> LoadDriver(const std::string& path, const CairnDriverHost& host) {
  const Result<Library> library = Library::Load(path);
  if (!library.ok()) {
    return Problem(StatusCode::kNotFound, path, "cannot be loaded: " + library.status().message());
  }
  const auto open = library->Find<CairnOpenDriverFunction>(CAIRN_OPEN_DRIVER_NAME);
  if (open == nullptr) {
    return Problem(StatusCode::kUnsupported, path,
                   "exports no " CAIRN_OPEN_DRIVER_NAME
                   ": it is no driver library, see cairn/annotations.h");
  }
  CairnDriver answer = {};
  answer.struct_size = sizeof(answer);
  const CairnResult result = open(&host, &answer);
  if (result != CAIRN_OK) {
    return Problem(StatusCode::kUnsupported, path,
                   CAIRN_OPEN_DRIVER_NAME " refused the device with error " +
                       std::to_string(static_cast<int>(result)) + " of CairnResult");
  }
  if (const std::string mismatch = Mismatch(answer, host); !mismatch.empty()) {
    if (answer.close != nullptr) answer.close(answer.driver);
    return Problem(StatusCode::kInvalidArgument, path, mismatch);
  }
  Driver driver;
  driver.name = answer.name != nullptr && answer.name[0] != 0 ? answer.name : path;
  driver.supported = answer.supports_0121 != 0;
  driver.functions = answer.functions;
  driver.state = answer.driver;
  driver.close = answer.close;
  return driver;
}

}  // namespace cairn
