// SPDX-License-Identifier: Apache-2.0
//
// The colour of a cell: its number is the red.
// Profile ps_6_0, entry point main.
// Bindings: b0, 1 dword of root constants (shared with cell.vs).

cbuffer Draw : register(b0)
{
    uint cell;
};

float4 main(float4 position : SV_Position) : SV_Target0
{
    return float4(cell / 255.0, 1.0, 0.0, 1.0);
}
