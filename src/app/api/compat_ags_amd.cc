// SPDX-License-Identifier: Apache-2.0
#include "app/api/compat_ags_amd.h"

#include <fmt/format.h>

#include <string>

#include "format/settings/layer_settings.h"
#include "os/environment.h"
#include "os/library.h"

namespace cairn {
namespace {

constexpr char kLibrary[] = "amd_ags_x64.dll";

int MajorOf(int version) {
  return version >> 22;
}

}  // namespace

AmdAgs::~AmdAgs() {
  Close();
}

AmdAgs& AmdAgs::operator=(AmdAgs&& other) noexcept {
  Close();
  functions_ = other.functions_;
  context_ = std::exchange(other.context_, nullptr);
  made_device_ = std::exchange(other.made_device_, false);
  slots_ = std::exchange(other.slots_, nullptr);
  finding_ = std::move(other.finding_);
  return *this;
}

void AmdAgs::Close() {
  if (context_ != nullptr) functions_.deinitialize(context_);
  context_ = nullptr;
}

Result<AmdAgs::Functions> AmdAgs::Load() {
  const Setting<std::string> named = ReadSetting<&LayerSettings::amd_ags>(OwnVariable);
  const Result<Library> library = Library::Load(named.is_set() ? *named : kLibrary);
  if (!library.ok()) return library.status();
  if (library->Find<void*>("cairnAgsAttach") != nullptr) {
    return Status(StatusCode::kNotFound, std::string("what is there is Cairn's own; ") +
                                             kVariableOf<&LayerSettings::amd_ags> +
                                             " can name the file of AMD's");
  }
  const Functions functions = {
      library->Find<decltype(Functions::version)>("agsGetVersionNumber"),
      library->Find<decltype(Functions::initialize)>("agsInitialize"),
      library->Find<decltype(Functions::deinitialize)>("agsDeInitialize"),
      library->Find<decltype(Functions::create_device)>("agsDriverExtensionsDX11_CreateDevice"),
      library->Find<decltype(Functions::destroy_device)>("agsDriverExtensionsDX11_DestroyDevice"),
      library->Find<decltype(Functions::write_breadcrumb)>(
          "agsDriverExtensionsDX11_WriteBreadcrumb")};
  if (functions.version == nullptr || functions.initialize == nullptr ||
      functions.deinitialize == nullptr || functions.create_device == nullptr ||
      functions.destroy_device == nullptr || functions.write_breadcrumb == nullptr) {
    return Status(StatusCode::kUnsupported, "it lacks functions of version 6");
  }
  return functions;
}

std::string AmdAgs::Open(const AGSDX11DeviceCreationParams& creation, unsigned int slot_count,
                         AGSDX11ReturnedParams* returned) {
  const Result<Functions> functions = Load();
  if (!functions.ok()) return functions.status().message();
  functions_ = *functions;
  const int version = functions_.version();
  if (MajorOf(version) != AMD_AGS_VERSION_MAJOR) {
    return fmt::format("it is of version {}, not {}", MajorOf(version), AMD_AGS_VERSION_MAJOR);
  }
  const AGSReturnCode initialized = functions_.initialize(version, nullptr, &context_, nullptr);
  if (initialized != AGS_SUCCESS) {
    context_ = nullptr;
    return fmt::format("agsInitialize returns {}", static_cast<int>(initialized));
  }
  AGSDX11ExtensionParams extensions = {};
  extensions.numBreadcrumbMarkers = slot_count;
  extensions.crossfireMode = AGS_CROSSFIRE_MODE_DISABLE;
  AGSDX11ReturnedParams made = {};
  const AGSReturnCode created = functions_.create_device(context_, &creation, &extensions, &made);
  if (created != AGS_SUCCESS) {
    return fmt::format("agsDriverExtensionsDX11_CreateDevice returns {}",
                       static_cast<int>(created));
  }
  made_device_ = true;
  returned->pDevice = made.pDevice;
  returned->pImmediateContext = made.pImmediateContext;
  returned->pSwapChain = made.pSwapChain;
  returned->featureLevel = made.featureLevel;
  if (made.extensionsSupported.breadcrumbMarkers == 0 || made.breadcrumbBuffer == nullptr) {
    return "it has made the device, and says that it has no breadcrumbMarkers for it";
  }
  slots_ = static_cast<volatile uint64_t*>(made.breadcrumbBuffer);
  return "";
}

AmdAgs AmdAgs::Create(const AGSDX11DeviceCreationParams& creation, unsigned int slot_count,
                      AGSDX11ReturnedParams* returned) {
  AmdAgs amd;
  amd.finding_ = {"AMD's amd_ags_x64.dll", SourceState::kAbsent, ""};
  amd.finding_.reason = amd.Open(creation, slot_count, returned);
  if (!amd.made_device_) amd.Close();
  return amd;
}

void AmdAgs::Destroy(ID3D11Device* device, unsigned int* device_references,
                     ID3D11DeviceContext* context, unsigned int* context_references) {
  functions_.destroy_device(context_, device, device_references, context, context_references);
  made_device_ = false;
}

std::function<Status(PipeLocation where, uint32_t index, uint64_t value)> AmdAgs::writer() const {
  return [write = functions_.write_breadcrumb, context = context_](PipeLocation where,
                                                                   uint32_t index, uint64_t value) {
    AGSBreadcrumbMarker marker = {};
    marker.markerData = value;
    marker.type = where == PipeLocation::kTop ? AGSBreadcrumbMarker::TopOfPipe
                                              : AGSBreadcrumbMarker::BottomOfPipe;
    marker.index = index;
    const AGSReturnCode code = write(context, &marker);
    return code == AGS_SUCCESS
               ? Status()
               : Status(StatusCode::kUnsupported,
                        fmt::format("AMD's library returns {}", static_cast<int>(code)));
  };
}

}  // namespace cairn
