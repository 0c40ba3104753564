// SPDX-License-Identifier: Apache-2.0
//
// The common properties of dumps of one fault: `cairn triage` groups dumps by them.
// docs/reference/cairn-triage.md has the rules.
#ifndef CAIRN_READER_REPORT_SIGNATURE_H_
#define CAIRN_READER_REPORT_SIGNATURE_H_

#include <string>
#include <vector>

#include "base/json_writer.h"
#include "format/snapshot/snapshot.h"
#include "reader/analysis/findings.h"

namespace cairn {

// All texts are untrusted, and of no more than kMaxFileNameBytes (format/snapshot/snapshot_file.h) each.
struct Signature {
  std::string kind;  // FindingKindWord
  std::string
      cause;  // "SIGSEGV", "VK_ERROR_DEVICE_LOST", "invalid write"; empty where the kind says all
  // The scopes around the likeliest suspect and the suspect itself, from the outermost one, without
  // numbers; the common scopes if nothing separates the suspects; the queues of a deadlock. Only
  // the innermost kPathLength of a deep path.
  std::vector<std::string> path;
  // The shaders of the suspect's pipeline, in the order of its stages: hashes, or names where no
  // hash is known.
  std::vector<std::string> shaders;
  std::string device;
  std::string driver;
  std::string id;  // 16 hexadecimal digits: XXH3 of all of these, the same on every machine

  static constexpr size_t kPathLength = 16;
};

// Pure. Linear in the suspects and the depth of their scopes, of no more than 64 suspects.
Signature SignatureOf(const Snapshot& snapshot, const Findings& findings);

// `Frame # > Lighting > DRAW_INSTANCED`, as visible text.
std::string PathOf(const Signature& signature);
// Separated by spaces, as visible text.
std::string ShadersOf(const Signature& signature);

// Writes an object with the key `signature`.
void WriteSignature(const Signature& signature, JsonWriter* json);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_SIGNATURE_H_
