// SPDX-License-Identifier: Apache-2.0
//
// A loop of a vertex shader that does not move on.
#include "why.hlsl"

float4 main(uint vertex : SV_VertexID) : SV_Position
{
    uint sum = 0;
    for (uint i = 0; i < 8; i += count) // culprit
    {
        sum += i;
        if (Spent()) break;
    }
    float2 corner = float2(vertex % 3 >> 1, vertex % 3 & 1) * 4 - 1;
    return float4(corner, sum == 12345 ? 0.5 : 0, 1);
}
