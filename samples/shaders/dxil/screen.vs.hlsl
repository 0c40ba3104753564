// SPDX-License-Identifier: Apache-2.0
//
// One triangle over the whole picture.
// Draw three vertices without a vertex buffer.
// Profile vs_6_0, entry point main.

float4 main(uint vertex : SV_VertexID) : SV_Position
{
    return float4(vertex == 2 ? 3.0 : -1.0, vertex == 1 ? 3.0 : -1.0, 0.5, 1.0);
}
