#version 450
// SPDX-License-Identifier: Apache-2.0
//
// Writes the interpolated colour of triangle.vert. Bindings: none.

layout(location = 0) in vec4 colour;
layout(location = 0) out vec4 target;

void main()
{
    target = colour;
}
