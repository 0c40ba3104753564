// SPDX-License-Identifier: Apache-2.0
//
// For tests: whether a JSON document follows one of our schemas (docs/*.schema.json).
#ifndef CAIRN_BASE_TESTING_JSON_SCHEMA_CHECK_H_
#define CAIRN_BASE_TESTING_JSON_SCHEMA_CHECK_H_

#include <string>

#include "base/testing/json.h"

namespace cairn {

// The part of JSON Schema that our schemas use. Returns the first violation, empty if there is none.
std::string SchemaViolation(const Json& schema, const Json& value, const std::string& at = "");

}  // namespace cairn

#endif  // CAIRN_BASE_TESTING_JSON_SCHEMA_CHECK_H_
