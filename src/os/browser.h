// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_OS_BROWSER_H_
#define CAIRN_OS_BROWSER_H_

#include <string>

namespace cairn {

// Shows a page in the user's browser, which goes on when this process has ended. `page`: the path of an .html file. It
// stands in the browser's command line, which every user of the machine can read: so no secret may be in it, as in the
// address of a page. Nothing happens where there is no browser.
void OpenInBrowser(const std::string& page);

}  // namespace cairn

#endif  // CAIRN_OS_BROWSER_H_
