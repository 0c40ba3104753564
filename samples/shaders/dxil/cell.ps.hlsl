// SPDX-License-Identifier: Apache-2.0
//
// The colour of a cell: its number is the red, and the draw's number the blue.
// Profile ps_6_0, entry point main.
// Bindings: b0, 2 dwords of root constants (shared with cell.vs).

cbuffer Draw : register(b0)
{
    uint cell;
    uint draw;
};

float4 main(float4 position : SV_Position) : SV_Target0
{
    return float4(cell / 255.0, 1.0, draw / 255.0, 1.0);
}
