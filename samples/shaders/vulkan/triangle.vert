#version 450
// SPDX-License-Identifier: Apache-2.0
//
// One triangle in three colours, made from the vertex number alone: draw three
// vertices without a vertex buffer. The same picture as the Direct3D sample's:
// y is turned over here, and the triangle is clockwise on the screen.
// Bindings: none.

layout(location = 0) out vec4 colour;

void main()
{
    float top = gl_VertexIndex == 0 ? 1.0 : 0.0;
    float right = gl_VertexIndex == 1 ? 1.0 : 0.0;
    float left = gl_VertexIndex == 2 ? 1.0 : 0.0;

    gl_Position = vec4(0.75 * (right - left), -0.75 * (top - right - left), 0.5, 1.0);
    colour = vec4(top, right, left, 1.0);
}
