// SPDX-License-Identifier: Apache-2.0
//
// The report as one page for a browser, which needs no network and no GPU: docs/reference/viewer.md.
#ifndef CAIRN_READER_PAGE_PAGE_H_
#define CAIRN_READER_PAGE_PAGE_H_

#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "format/snapshot/snapshot.h"
#include "reader/analysis/findings.h"

namespace cairn {

struct PageContent {
  std::string file;                    // how the page calls it
  const Snapshot* snapshot = nullptr;  // null: the file has none
  const Findings* findings = nullptr;  // of the snapshot
  bool has_trace = false;              // and a server that answers for it
  std::string other;                   // the file that it can be compared with; "" if there is none
  bool is_served = false;              // it may ask the server that it comes from
  bool names_file =
      true;  // commands for next steps may name it: not where names are hashes, or where it is gone
  std::string_view
      why;  // the answer of cairn why, as JSON (docs/formats/why.schema.json); "" for none
};

// Returns true if this build has the page: it was built with node, npm and esbuild.
bool HasPage();

// The page in pieces; nothing of the report is in it but as compressed data, so that no name can end what it stands
// in. Memory: some 200 KiB beside what the analysis holds.
// Errors: kUnsupported if this build has no page; kIo if `print` said false.
Status WritePage(const PageContent& content, const std::function<bool(std::string_view)>& print);

// The page of many dumps, as WritePage. `json`: its data (TriagePageData of reader/view).
Status WriteTriagePage(std::string_view json, bool is_served,
                       const std::function<bool(std::string_view)>& print);

}  // namespace cairn

#endif  // CAIRN_READER_PAGE_PAGE_H_
