// SPDX-License-Identifier: Apache-2.0
//
// One triangle in three colours, made from the vertex number alone: draw three
// vertices without a vertex buffer. Clockwise, so front-facing in Direct3D.
// Profile vs_5_0, entry point main. Bindings: none.
//
// Conditionals rather than a table: the compiler that builds the committed
// bytes knows no arrays indexed at run time.

struct Output
{
    float4 position : SV_Position;
    float4 colour : COLOR0;
};

Output main(uint vertex : SV_VertexID)
{
    float top = vertex == 0 ? 1.0 : 0.0;
    float right = vertex == 1 ? 1.0 : 0.0;
    float left = vertex == 2 ? 1.0 : 0.0;

    Output output;
    output.position = float4(0.75 * (right - left), 0.75 * (top - right - left), 0.5, 1.0);
    output.colour = float4(top, right, left, 1.0);
    return output;
}
