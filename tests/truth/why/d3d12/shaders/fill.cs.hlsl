// SPDX-License-Identifier: Apache-2.0
//
// Writes, and does nothing else.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    Finish(thread.x, value);
}
