#version 450
// SPDX-License-Identifier: Apache-2.0
//
// The triangle of triangle.vert, moved and scaled by push constants, so that
// every draw of a frame can be told from its neighbours by where it is.
// Draw three vertices without a vertex buffer.
// Bindings: push constants, 32 bytes from offset 0 (shared with solid.frag).

layout(push_constant) uniform Draw
{
    vec4 offset_scale; // xy: centre, y up; zw: half width and half height
    vec4 colour;       // red, green, blue, alpha (read by solid.frag)
} draw;

void main()
{
    float top = gl_VertexIndex == 0 ? 1.0 : 0.0;
    float right = gl_VertexIndex == 1 ? 1.0 : 0.0;
    float left = gl_VertexIndex == 2 ? 1.0 : 0.0;

    vec2 corner = vec2(right - left, top - right - left);
    vec2 place = draw.offset_scale.xy + corner * draw.offset_scale.zw;
    gl_Position = vec4(place.x, -place.y, 0.5, 1.0);
}
