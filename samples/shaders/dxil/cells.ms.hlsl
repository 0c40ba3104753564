// SPDX-License-Identifier: Apache-2.0
//
// A triangle in one of 8 by 8 cells; those of further rows lie outside of the picture. Its green is counted in a loop,
// which never ends if the step is 0.
// Profile ms_6_5, entry point main.
// Bindings: b0, 2 dwords of root constants.

struct Row
{
    uint row;
};

struct Corner
{
    float4 position : SV_Position;
    nointerpolation float4 colour : COLOR0;
};

cbuffer Loop : register(b0)
{
    uint last;
    uint step;
};

[numthreads(3, 1, 1)]
[outputtopology("triangle")]
void main(uint corner : SV_GroupIndex, uint column : SV_GroupID, in payload Row payload,
          out vertices Corner corners[3], out indices uint3 triangles[1])
{
    SetMeshOutputCounts(3, 1);
    uint green = 0;
    for (uint i = 0; i < last; i += step)
        green = (green + i) & 255;

    float2 at = float2(corner == 1 ? 1.0 : corner == 2 ? -1.0 : 0.0, corner == 0 ? 1.0 : -1.0);
    float2 centre = (float2(column, payload.row) + 0.5) / 4.0 - 1.0;
    corners[corner].position = float4(centre.x + at.x / 8.0, -centre.y + at.y / 8.0, 0.5, 1.0);
    corners[corner].colour = float4((payload.row * 8 + column) / 255.0, green / 255.0, 1.0, 1.0);
    if (corner == 0)
        triangles[0] = uint3(0, 1, 2);
}
