// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_OS_BROWSER_H_
#define CAIRN_OS_BROWSER_H_

#include <string>

namespace cairn {

// Shows a page in the user's browser, which goes on when this process has ended. `address`: "http://...". Nothing happens
// where there is none.
void OpenInBrowser(const std::string& address);

}  // namespace cairn

#endif  // CAIRN_OS_BROWSER_H_
