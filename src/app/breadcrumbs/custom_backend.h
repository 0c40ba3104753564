// SPDX-License-Identifier: Apache-2.0
//
// A backend made of the application's callbacks. The words live in a block that the application
// allocated; they are mirrored into ours.
#ifndef CAIRN_APP_BREADCRUMBS_CUSTOM_BACKEND_H_
#define CAIRN_APP_BREADCRUMBS_CUSTOM_BACKEND_H_

#include <memory>

#include "cairn/breadcrumbs.h"

#include "app/breadcrumbs/backend.h"

namespace cairn {

std::unique_ptr<Backend> CreateCustomBackend(const CairnCustomBackend& callbacks);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_CUSTOM_BACKEND_H_
