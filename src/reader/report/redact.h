// SPDX-License-Identifier: Apache-2.0
//
// For reports that leave a player's machine.
#ifndef CAIRN_READER_REPORT_REDACT_H_
#define CAIRN_READER_REPORT_REDACT_H_

#include <string>
#include <string_view>

#include "format/snapshot/snapshot.h"

namespace cairn {

// Returns the snapshot, in which every name that the application gave (markers, command lists,
// queues, pipelines, shaders, objects, threads, itself, the place where it noticed a device loss),
// the program's path, its command line and the path of a driver for annotations are replaced by
// "name-" and 16 hexadecimal digits: a hash, the same for the same name in every report. A reader
// who guesses a name can check the guess. Addresses are left out; where one leads to another, as a
// call to its object, small numbers take their place, and GPU addresses, also those of faults, are
// all moved by one distance. Payloads of annotations, code of shaders, binaries and data of a
// vendor are left out; hashes of shaders stay. Marker types, EventIDs, functions, devices, drivers,
// data sources and losses stay as they are. The names are not in its text any more. Memory: nothing
// but the new text, beside what is given.
Snapshot Redact(Snapshot snapshot);

// Returns what takes the place of a name: "name-0123456789abcdef".
std::string RedactedName(std::string_view name);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_REDACT_H_
