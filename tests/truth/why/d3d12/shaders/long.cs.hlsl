// SPDX-License-Identifier: Apache-2.0
//
// A loop that ends, after far too many trips.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint sum = 0;
    for (uint i = 0; i < count; ++i) // culprit
    {
        sum += Word((sum + i) & 63);
    }
    Finish(thread.x, sum);
}
