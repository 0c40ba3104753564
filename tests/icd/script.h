// SPDX-License-Identifier: Apache-2.0
//
// The language in which a program tells the test driver how its GPU misbehaves: texts of debug labels
// that start with "icd:". README.md lists every directive. Pure: text in, Directive out.
#ifndef CAIRN_TESTS_ICD_SCRIPT_H_
#define CAIRN_TESTS_ICD_SCRIPT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn::icd {

enum class DirectiveKind : uint8_t {
  kDuration,     // count: steps that the next work takes
  kHang,         // the next work never ends
  kFault,        // the next work faults at its end: address, access, precision
  kMaskedFault,  // the same, but the device carries on; told once the device is lost
  kRace,         // kFault, if other work runs when the next work begins, on whatever queue
  kMiss,         // kFault, unless the device has the feature that makes it harmless: missed
  kFaultAfterCompletion,  // the next work ends as if all were well; nothing fetched later ever ends
  kLate,                  // count: steps after which a marker is seen, for all that follow; which
  kLateForEver,
  kLoseMarkers,  // count: how many of the next markers are never written
  kLoseTop,      // top-of-pipe markers before the next work
  kLoseBottom,   // count: bottom-of-pipe markers behind the next work
  kReorder,      // a marker is seen after the next one for another word
  kReorderEnd,
  kDeviceLost,    // count: steps until the device is lost
  kStop,          // count: steps until the device stands still for ever
  kDropStores,    // what is not seen when the device is lost never will be
  kVendorInfo,    // code, data, text
  kVendorBinary,  // text: payload
  kBind,          // address, size: reported as bound
  kUnbind,
  kNote,  // address of the host, size_bytes: words that become 1 when the next work begins, 2 when it ends
};

// The markers that a directive affects.
enum class MarkerPlace : uint8_t { kBoth, kTop, kBottom };

// The object that an access is outside of. A device has those of them that are harmless.
enum class Missed : uint8_t { kBuffer = 1, kImage = 2, kDescriptor = 4 };

enum class FaultAccess : uint8_t { kNone, kRead, kWrite, kExecute, kInstruction };

struct Directive {
  DirectiveKind kind = DirectiveKind::kHang;
  uint64_t count = 0;
  MarkerPlace place = MarkerPlace::kBoth;
  bool in_transfer = false;  // "the next work" is a transfer, otherwise a draw or dispatch
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  uint64_t precision = 1;  // a power of two
  FaultAccess access = FaultAccess::kNone;
  Missed missed = Missed::kBuffer;
  uint64_t code = 0;
  uint64_t data = 0;
  std::string text;
};

// True if the text is meant for the driver at all.
bool IsScript(std::string_view label);

// Parses a label for which IsScript holds. False with a message that names the faulty word otherwise.
bool ParseDirective(std::string_view label, Directive* directive, std::string* error);

}  // namespace cairn::icd

#endif  // CAIRN_TESTS_ICD_SCRIPT_H_
