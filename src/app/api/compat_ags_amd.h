// SPDX-License-Identifier: Apache-2.0
//
// AMD's own amd_ags_x64.dll, where it is on the machine and answers for its GPU: it makes the device then, and writes the
// markers.
#ifndef CAIRN_APP_API_COMPAT_AGS_AMD_H_
#define CAIRN_APP_API_COMPAT_AGS_AMD_H_

#include <d3d11_4.h>

#include <functional>
#include <utility>

#include "cairn/compat/amd_ags.h"

#include "app/breadcrumbs/backend.h"

namespace cairn {

class AmdAgs {
 public:
  AmdAgs() = default;
  ~AmdAgs();
  AmdAgs(AmdAgs&& other) noexcept { *this = std::move(other); }
  AmdAgs& operator=(AmdAgs&& other) noexcept;

  // Lets AMD's library make a device with `slot_count` slots. Without the library, or if it reports
  // no AMD driver, or makes no device, `returned` stays all zero; finding() has the reason. The
  // library is the file that CAIRN_AMD_AGS names, or the one that the system finds by its name;
  // Cairn's own library (it exports cairnAgsAttach) is refused.
  static AmdAgs Create(const AGSDX11DeviceCreationParams& creation, unsigned int slot_count,
                       AGSDX11ReturnedParams* returned);

  bool made_device() const { return made_device_; }
  // agsDriverExtensionsDX11_DestroyDevice of the library, and the end of its context.
  void Destroy(ID3D11Device* device, unsigned int* device_references, ID3D11DeviceContext* context,
               unsigned int* context_references);

  // Returns true if AGS reports that it can write markers.
  bool has_markers() const { return slots_ != nullptr; }
  volatile uint64_t* slots() const { return slots_; }
  // Valid as long as this.
  std::function<Status(PipeLocation where, uint32_t index, uint64_t value)> writer() const;
  const SourceFinding& finding() const { return finding_; }

 private:
  struct Functions {
    decltype(&agsGetVersionNumber) version;
    decltype(&agsInitialize) initialize;
    decltype(&agsDeInitialize) deinitialize;
    decltype(&agsDriverExtensionsDX11_CreateDevice) create_device;
    decltype(&agsDriverExtensionsDX11_DestroyDevice) destroy_device;
    decltype(&agsDriverExtensionsDX11_WriteBreadcrumb) write_breadcrumb;
  };

  static Result<Functions> Load();
  // "" or why not.
  std::string Open(const AGSDX11DeviceCreationParams& creation, unsigned int slot_count,
                   AGSDX11ReturnedParams* returned);
  void Close();

  Functions functions_ = {};
  AGSContext* context_ = nullptr;  // the library's
  bool made_device_ = false;
  volatile uint64_t* slots_ = nullptr;
  SourceFinding finding_;
};

}  // namespace cairn

#endif  // CAIRN_APP_API_COMPAT_AGS_AMD_H_
