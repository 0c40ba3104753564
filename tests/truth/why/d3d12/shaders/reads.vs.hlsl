// SPDX-License-Identifier: Apache-2.0
//
// A vertex that takes a while, without a loop: a triangle over the whole picture, or one of no area.
#include "why.hlsl"

#define READ at = Word(at & 63) + 1;
#define READS_4 READ READ READ READ
#define READS_16 READS_4 READS_4 READS_4 READS_4

float4 main(uint vertex : SV_VertexID) : SV_Position
{
    uint at = vertex;
    READS_16 READS_16 READS_16 READS_16
    float2 corner = float2(vertex % 3 >> 1, vertex % 3 & 1) * 4 - 1;
    if (value != 0) corner = float2(-2, -2);
    return float4(corner, at == 12345 ? 0.5 : 0, 1);
}
