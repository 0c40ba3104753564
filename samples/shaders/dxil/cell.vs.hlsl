// SPDX-License-Identifier: Apache-2.0
//
// A triangle in one of 8 by 8 cells, which a root constant names. Draw three vertices without a vertex buffer.
// Profile vs_6_0, entry point main.
// Bindings: b0, 2 dwords of root constants (shared with cell.ps).

cbuffer Draw : register(b0)
{
    uint cell;
    uint draw; // read by cell.ps
};

float4 main(uint vertex : SV_VertexID) : SV_Position
{
    float2 corner = float2(vertex == 1 ? 1.0 : vertex == 2 ? -1.0 : 0.0, vertex == 0 ? 1.0 : -1.0);
    float2 centre = (float2(cell % 8, cell / 8) + 0.5) / 4.0 - 1.0;
    return float4(centre.x + corner.x / 8.0, -centre.y + corner.y / 8.0, 0.5, 1.0);
}
