// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_ANNOTATIONS_STDERR_LINE_H_
#define CAIRN_APP_ANNOTATIONS_STDERR_LINE_H_

namespace cairn {

// "cairn: PREFIX: TEXT" and a line feed to stderr in one piece, cut at 512 bytes; what VisibleText
// (base/text.h) would write out becomes '?'. No lock, no allocation: safe in a signal handler.
void WriteStderrLine(const char* prefix, const char* text);

}  // namespace cairn

#endif  // CAIRN_APP_ANNOTATIONS_STDERR_LINE_H_
