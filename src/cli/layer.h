// SPDX-License-Identifier: Apache-2.0
//
// Where the Direct3D 12 layer is, and how it gets into a program.
#ifndef CAIRN_CLI_LAYER_H_
#define CAIRN_CLI_LAYER_H_

#include <string>

#include "base/status.h"

namespace cairn::cli {

// The value of LD_PRELOAD for a program under `cairn run`: the layer, then what is preloaded already.
// The layer is the file that CAIRN_LAYER_PATH names, else libcairn-d3d12.so of the installation or
// build folder that this program belongs to. "" where the layer cannot be preloaded by design: a
// build with sanitizers, whose libraries other programs cannot load. kNotFound: there is no such
// file; kUnsupported: its path cannot be said in LD_PRELOAD.
Result<std::string> LayerPreload();

}  // namespace cairn::cli

#endif  // CAIRN_CLI_LAYER_H_
