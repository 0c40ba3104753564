/* SPDX-License-Identifier: Apache-2.0
 *
 * An annotation driver that answers with a version of the feature, or needs a revision of the interface,
 * that Cairn did not offer.
 */
#include "cairn/annotations.h"

static void CAIRN_DDI_CALL QueueEvent(D3D12DDI_HCOMMANDQUEUE queue, uint32_t metadata,
                                      const void* data, uint32_t size, uint64_t event_id) {
  (void)queue, (void)metadata, (void)data, (void)size, (void)event_id;
}
static void CAIRN_DDI_CALL QueueEnd(D3D12DDI_HCOMMANDQUEUE queue, uint64_t event_id) {
  (void)queue, (void)event_id;
}
static void CAIRN_DDI_CALL ListEvent(D3D12DDI_HCOMMANDLIST list, uint32_t metadata,
                                     const void* data, uint32_t size, uint64_t event_id) {
  (void)list, (void)metadata, (void)data, (void)size, (void)event_id;
}
static void CAIRN_DDI_CALL ListEnd(D3D12DDI_HCOMMANDLIST list, uint64_t event_id) {
  (void)list, (void)event_id;
}
static void CAIRN_DDI_CALL SetName(D3D12DDI_HANDLE_AND_TYPE object, const wchar_t* name) {
  (void)object, (void)name;
}

CAIRN_DRIVER_EXPORT CairnResult cairnOpenDriver(const CairnDriverHost* host, CairnDriver* answer);

CAIRN_DRIVER_EXPORT CairnResult cairnOpenDriver(const CairnDriverHost* host, CairnDriver* answer) {
  const D3D12DDI_USER_DEFINED_ANNOTATION_FUNCS_0121 functions = {
      QueueEvent, QueueEnd, QueueEvent, ListEvent, ListEnd, ListEvent, SetName};
  answer->supports_0121 = 1;
  answer->functions = functions;
#if defined(MISMATCH_FEATURE_VERSION)
  answer->feature_version = host->feature_version + 1;
#else
  answer->feature_version = host->feature_version;
  answer->ddi_required = host->ddi_supported + ((uint64_t)1 << 16);
#endif
  return CAIRN_OK;
}
