// SPDX-License-Identifier: Apache-2.0
//
// Looks for what cannot be right in a trace, without a GPU: damaged bytes, results without calls, objects
// that were not made, addresses in no buffer, descriptors outside of their heaps, waits for what nobody
// signals. docs/reference/cairn-verify.md lists the rules.
#ifndef CAIRN_FORMAT_TRACE_VERIFY_H_
#define CAIRN_FORMAT_TRACE_VERIFY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/trace/trace_reader.h"

namespace cairn {

enum class VerifyRule : uint8_t {
  kFile,        // bytes of the file are damaged or contradict each other
  kRecord,      // a record contradicts others
  kCall,        // arguments or results that cannot be decoded, or are not their method's
  kObject,      // an object that does not exist, no longer, or is of another kind
  kBlob,        // bytes that a record refers to and that are not there
  kAddress,     // a GPU address in no living buffer, or a range that ends behind it
  kDescriptor,  // a descriptor in no living heap, between two, or a range that ends behind it
  kFence,       // a wait that nothing ends; a value reached before it was signalled
  kMemory,      // bytes written outside of their resource
  kFrame,       // frames that are not counted one by one
  kUnknown,     // this build does not know the method: nothing of it was checked
  kRecording,   // what the recording itself noted
  kCutEnd,  // the recording ends in the middle: calls without results, chunks that were not finished
};
inline constexpr size_t kVerifyRuleCount = 13;
const char* VerifyRuleName(VerifyRule rule);  // "file", "record", ...

enum class Severity : uint8_t {
  kNote,     // nothing is wrong: the program died, or did what it noted
  kWarning,  // the program did what Direct3D 12 forbids, or a replay may differ
  kError,    // the trace is not what was recorded
};
const char* SeverityName(Severity severity);

struct Finding {
  VerifyRule rule = VerifyRule::kFile;
  Severity severity = Severity::kError;
  uint64_t record = 0;  // 0: of none
  std::string text;     // one sentence without a full stop, fit for a terminal
};

struct VerifyReport {
  std::vector<Finding> findings;           // the first kFindingsPerRule of each rule, in order
  uint64_t counts[kVerifyRuleCount] = {};  // of all findings
  uint64_t errors = 0;
  uint64_t warnings = 0;
  uint64_t records = 0;
  uint64_t calls = 0;
  uint64_t checked_calls = 0;  // whose arguments were decoded
  uint64_t objects = 0;
  uint64_t blobs = 0;
  bool interrupted = false;

  bool clean() const { return errors == 0 && warnings == 0; }
};
inline constexpr size_t kFindingsPerRule = 20;

struct VerifyOptions {
  // Called now and then with the progress; if it returns false, checking ends with `interrupted`.
  // May be null.
  std::function<bool(uint64_t done, uint64_t total)> progress;
};

// Memory: that of TraceState, 64 bytes for each fence, and 24 for each call that has not returned.
// Errors: what keeps the trace from being read at all.
Result<VerifyReport> VerifyTrace(TraceReader* trace, const VerifyOptions& options);

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_VERIFY_H_
