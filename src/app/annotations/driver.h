// SPDX-License-Identifier: Apache-2.0
//
// Drivers: who receives markers and names in DRIVER_RETAIL, behind the function table of the DDI
// (cairn/annotations.h). Chosen by name:
//   breadcrumb  makes the GPU write each marker as a progress word, with its EventID (the default)
//   logging     logs every call, retains nothing
//   none        a driver without the feature: nothing is called
//   /a/path.so  a library of somebody else
#ifndef CAIRN_APP_ANNOTATIONS_DRIVER_H_
#define CAIRN_APP_ANNOTATIONS_DRIVER_H_

#include <cstdint>
#include <string>

#include "cairn/annotations.h"

#include "base/status.h"

namespace cairn {

class CommandList;

// The target of a handle, with members that only drivers inside the project see.
struct DriverObject : CairnDriverObject {
  CommandList* breadcrumbs;  // of the list's current recording; null if there are none
  // True during the end of an event on a list: there is an event to end. The EventID does not show
  // this, because events nested too deep have none at their end.
  bool ends_event;
};

struct Driver {
  std::string name;
  bool supported = false;            // feature 0121
  bool records_breadcrumbs = false;  // the layer leaves lists' annotations to it
  D3D12DDI_USER_DEFINED_ANNOTATION_FUNCS_0121 functions = {};
  void* state = nullptr;
  void (*close)(void* state) = nullptr;
};

Driver BreadcrumbDriver();
Driver NoDriver();

// Opens the driver with this name, "" for the default. `host` stays valid until the driver is closed.
Result<Driver> OpenDriver(const std::string& name, const CairnDriverHost& host);

// Loads a driver from a shared library. The message names the library, the fault and the next step.
Result<Driver> LoadDriver(const std::string& path, const CairnDriverHost& host);

}  // namespace cairn

#endif  // CAIRN_APP_ANNOTATIONS_DRIVER_H_
