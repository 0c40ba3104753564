// SPDX-License-Identifier: Apache-2.0
//
// Stores to another buffer, by its address.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    other.Store((thread.x & 63) * 4, value);
}
