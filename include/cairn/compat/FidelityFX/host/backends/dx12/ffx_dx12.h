/* SPDX-License-Identifier: Apache-2.0
 *
 * The original's path, for code that is recompiled against Cairn unchanged.
 */
#ifndef CAIRN_COMPAT_FIDELITYFX_DX12_H_
#define CAIRN_COMPAT_FIDELITYFX_DX12_H_

#include "cairn/compat/ffx_dx12.h"

#endif /* CAIRN_COMPAT_FIDELITYFX_DX12_H_ */
