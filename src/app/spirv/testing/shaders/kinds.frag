#version 450
// Each channel comes through another binding.
layout(location = 0) flat in float red;
layout(set = 0, binding = 0) uniform Colours { float green; } colours;
layout(set = 0, binding = 1) uniform sampler2D blue;
layout(location = 0) out vec4 colour;
void main() { colour = vec4(red, colours.green, texture(blue, vec2(0.5)).x, 1); }
