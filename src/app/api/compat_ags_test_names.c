/* SPDX-License-Identifier: Apache-2.0
 *
 * A program in C that was written for AGS 6.3: its names, and functions by their types. For compat_ags_test.cc. */
#include "cairn/compat/amd_ags.h"

int CairnTestAgsInC(void) {
  /* Each function as a program finds it that loads the library. */
  const AGS_INITIALIZE initialize = agsInitialize;
  const AGS_DEINITIALIZE deinitialize = agsDeInitialize;
  const AGS_GETVERSIONNUMBER get_version_number = agsGetVersionNumber;
  const AGS_CHECKDRIVERVERSION check_driver_version = agsCheckDriverVersion;
  const AGS_GETGPUINFO get_gpu_info = agsGetGPUInfo;
  const AGS_SETDISPLAYMODE set_display_mode = agsSetDisplayMode;
  const AGS_DRIVEREXTENSIONSDX11_CREATEDEVICE create_device = agsDriverExtensionsDX11_CreateDevice;
  const AGS_DRIVEREXTENSIONSDX11_DESTROYDEVICE destroy_device =
      agsDriverExtensionsDX11_DestroyDevice;
  const AGS_DRIVEREXTENSIONSDX11_WRITEBREADCRUMB write_breadcrumb =
      agsDriverExtensionsDX11_WriteBreadcrumb;
  const AGS_DRIVEREXTENSIONSDX11_SETCLIPRECTS set_clip_rects = agsDriverExtensionsDX11_SetClipRects;
  const AGS_DRIVEREXTENSIONSDX11_NOTIFYRESOURCEENDALLACCESS end_all_access =
      agsDriverExtensionsDX11_NotifyResourceEndAllAccess;
  const AGS_DRIVEREXTENSIONSDX12_CREATEDEVICE create_device_12 =
      agsDriverExtensionsDX12_CreateDevice;
  const AGS_DRIVEREXTENSIONSDX12_PUSHMARKER push_marker = agsDriverExtensionsDX12_PushMarker;
  const AGS_DRIVEREXTENSIONSDX12_POPMARKER pop_marker = agsDriverExtensionsDX12_PopMarker;

  const AGSBreadcrumbMarker marker = {0xDEADBEEF, AGSBottomOfPipe, 3};
  const AGSDisplaySettings display = {.mode = AGSDisplayMode_DolbyVision};
  const AGSClipRect clip = {.mode = AGSClipRectExcluded};
  AGSDeviceInfo device = {.asicFamily = AGSAsicFamily_RDNA4};
  AGSGPUInfo info = {"x", "x", 1, &device};
  AGSContext* context = NULL;
  if (initialize(AGS_CURRENT_VERSION, NULL, &context, NULL) != AGS_SUCCESS) return 1;
  if (get_gpu_info(context, &info) != AGS_SUCCESS || info.numDevices != 0) return 2;
  if (get_gpu_info(context, NULL) != AGS_INVALID_ARGS) return 3;
  /* Neither a device nor a CairnContext. */
  if (write_breadcrumb(context, &marker) != AGS_D3DDEVICE_NOT_CREATED) return 4;
  if (set_display_mode(context, 0, 0, &display) != AGS_EXTENSION_NOT_SUPPORTED) return 5;
  if (set_clip_rects(context, 1, &clip) != AGS_EXTENSION_NOT_SUPPORTED) return 6;
  if (end_all_access(context, NULL) != AGS_EXTENSION_NOT_SUPPORTED) return 7;
  if (get_version_number() != AGS_MAKE_VERSION(6, 3, 0)) return 8;
  if (check_driver_version("22.1.1", 0) != AGS_SOFTWAREVERSIONCHECK_UNDEFINED) return 9;
  if (create_device == NULL || destroy_device == NULL || create_device_12 == NULL ||
      push_marker == NULL || pop_marker == NULL) {
    return 10;
  }
  return deinitialize(context) == AGS_SUCCESS ? 0 : 11;
}
