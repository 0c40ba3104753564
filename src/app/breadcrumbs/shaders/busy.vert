#version 450
// SPDX-License-Identifier: Apache-2.0
//
// Three vertices of a triangle that covers the whole target.

void main()
{
    vec2 corner = vec2(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0);
    gl_Position = vec4(corner, 0.5, 1.0);
}
