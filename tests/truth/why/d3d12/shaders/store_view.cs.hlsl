// SPDX-License-Identifier: Apache-2.0
//
// Stores to another buffer, by a view, at an element that the constants name.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    view[count + (thread.x & 63)] = value;
}
