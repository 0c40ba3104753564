#version 450
// SPDX-License-Identifier: Apache-2.0
//
// Fills with the colour of the push constants, so that every draw of a frame
// can be told from its neighbours by its colour.
// Bindings: push constants, 32 bytes from offset 0 (shared with solid.vert).

layout(push_constant) uniform Draw
{
    vec4 offset_scale; // read by solid.vert
    vec4 colour;       // red, green, blue, alpha
} draw;

layout(location = 0) out vec4 target;

void main()
{
    target = draw.colour;
}
