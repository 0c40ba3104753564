/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest useful driver library: `CAIRN_DRIVER=./cairn-sample-driver.so cairn run -- PROGRAM`.
 * It keeps no data, only the EventID of the last event or marker that a command list was given, and
 * reports it as involved in a crash when the device is destroyed while an event is open, as a driver
 * would that finds its GPU hung there. Somebody who cannot wait for that calls sampleDriverCrash. It
 * counts its calls in the log. See include/cairn/annotations.h.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cairn/annotations.h"

/* The version of the feature whose table is below. */
#define SAMPLE_FEATURE_VERSION D3D12DDI_FEATURE_VERSION_USER_DEFINED_ANNOTATIONS_0121_0

typedef struct Driver {
  const CairnDriverHost* host;
  atomic_uint calls;
  atomic_int open_events;
  _Atomic uint64_t last_event_id;
} Driver;

/* Of the device that was created last, for sampleDriverCrash. */
static _Atomic(Driver*) last_driver;

static Driver* DriverOf(const void* handle) {
  return (Driver*)((const CairnDriverObject*)handle)->driver;
}

static void Note(Driver* driver, int opened, uint64_t event_id) {
  atomic_fetch_add(&driver->calls, 1);
  atomic_fetch_add(&driver->open_events, opened);
  if (event_id != 0 && opened >= 0) atomic_store(&driver->last_event_id, event_id);
}

static void CAIRN_DDI_CALL QueueBegin(D3D12DDI_HCOMMANDQUEUE queue, uint32_t metadata,
                                      const void* data, uint32_t size, uint64_t event_id) {
  (void)metadata, (void)data, (void)size, (void)event_id;
  Note(DriverOf(queue.pDrvPrivate), 0, 0);
}
static void CAIRN_DDI_CALL QueueEnd(D3D12DDI_HCOMMANDQUEUE queue, uint64_t event_id) {
  (void)event_id;
  Note(DriverOf(queue.pDrvPrivate), 0, 0);
}
static void CAIRN_DDI_CALL ListBegin(D3D12DDI_HCOMMANDLIST list, uint32_t metadata,
                                     const void* data, uint32_t size, uint64_t event_id) {
  (void)metadata, (void)data, (void)size;
  Note(DriverOf(list.pDrvPrivate), 1, event_id);
}
static void CAIRN_DDI_CALL ListEnd(D3D12DDI_HCOMMANDLIST list, uint64_t event_id) {
  Note(DriverOf(list.pDrvPrivate), event_id != 0 ? -1 : 0, event_id);
}
static void CAIRN_DDI_CALL ListMarker(D3D12DDI_HCOMMANDLIST list, uint32_t metadata,
                                      const void* data, uint32_t size, uint64_t event_id) {
  (void)metadata, (void)data, (void)size;
  Note(DriverOf(list.pDrvPrivate), 0, event_id);
}
static void CAIRN_DDI_CALL SetName(D3D12DDI_HANDLE_AND_TYPE object, const wchar_t* name) {
  (void)name;
  Note(DriverOf(object.Handle), 0, 0);
}

static void Close(void* pointer) {
  Driver* driver = (Driver*)pointer;
  char line[64];
  if (atomic_load(&driver->open_events) > 0) {
    driver->host->report_crash_event(driver->host->host, atomic_load(&driver->last_event_id));
  }
  snprintf(line, sizeof(line), "%u calls", atomic_load(&driver->calls));
  driver->host->log(driver->host->host, line);
  {
    Driver* last = driver;
    atomic_compare_exchange_strong(&last_driver, &last, NULL);
  }
  free(driver);
}

CAIRN_DRIVER_EXPORT void sampleDriverCrash(uint64_t event_id);

/* As if the GPU had hung at this EventID; 0: at the last one. */
CAIRN_DRIVER_EXPORT void sampleDriverCrash(uint64_t event_id) {
  Driver* driver = atomic_load(&last_driver);
  if (driver == NULL) return;
  if (event_id == 0) event_id = atomic_load(&driver->last_event_id);
  driver->host->report_crash_event(driver->host->host, event_id);
}

CAIRN_DRIVER_EXPORT CairnResult cairnOpenDriver(const CairnDriverHost* host, CairnDriver* answer);

CAIRN_DRIVER_EXPORT CairnResult cairnOpenDriver(const CairnDriverHost* host, CairnDriver* answer) {
  const D3D12DDI_USER_DEFINED_ANNOTATION_FUNCS_0121 functions = {
      QueueBegin, QueueEnd, QueueBegin, ListBegin, ListEnd, ListMarker, SetName};
  Driver* driver;
  /* A newer Cairn knows larger structs; an older one could not offer what is used here. */
  if (host->struct_size < sizeof(CairnDriverHost) || answer->struct_size < sizeof(CairnDriver)) {
    return CAIRN_ERROR_EXTENSION_NOT_SUPPORTED;
  }
  if (host->feature_version < SAMPLE_FEATURE_VERSION) return CAIRN_ERROR_EXTENSION_NOT_SUPPORTED;
  driver = (Driver*)calloc(1, sizeof(*driver));
  if (driver == NULL) return CAIRN_ERROR_OUT_OF_MEMORY;
  driver->host = host;
  atomic_store(&last_driver, driver);
  answer->supports_0121 = 1;
  answer->feature_version = SAMPLE_FEATURE_VERSION;
  answer->ddi_required = D3D12DDI_SUPPORTED_0121;
  answer->driver = driver;
  answer->name = "sample";
  answer->functions = functions;
  answer->close = Close;
  return CAIRN_OK;
}
