// SPDX-License-Identifier: Apache-2.0
//
// Declarations shared by the sources of cairn/compat/amd_ags.h.
#ifndef CAIRN_APP_API_COMPAT_AGS_H_
#define CAIRN_APP_API_COMPAT_AGS_H_

#include <memory>
#include <string_view>

#include "cairn/compat/amd_ags.h"

#include "app/api/errors.h"
#include "base/status.h"

namespace cairn {

// The Direct3D 11 device that was made with a context.
class AgsDevice {
 public:
  virtual ~AgsDevice() = default;
  virtual AGSReturnCode Write(const AGSBreadcrumbMarker& marker) = 0;
  virtual CairnAgsBreadcrumbs Describe() const = 0;
};

// Keeps the message for cairnGetLastErrorMessage, and returns the code.
AGSReturnCode FailAgs(AGSReturnCode code, std::string_view message);
AGSReturnCode FailAgs(const Status& status);
AGSReturnCode ToAgs(CairnResult result);

// Runs the body and converts its result. No exception leaves it.
template <typename Body>
AGSReturnCode GuardedAgs(Body&& body) {
  AGSReturnCode code = AGS_SUCCESS;
  const CairnResult result = Guarded([&] {
    code = body();
    return CAIRN_OK;
  });
  return result == CAIRN_OK ? code : ToAgs(result);
}

}  // namespace cairn

struct AGSContext {
  AGS_FREE_CALLBACK free;
  CairnContext* cairn_context;
  void* command_buffer;
  std::unique_ptr<cairn::AgsDevice> device;
};

#endif  // CAIRN_APP_API_COMPAT_AGS_H_
