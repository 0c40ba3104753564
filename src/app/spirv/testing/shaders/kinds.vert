#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in float red;
layout(location = 0) flat out float to_pixels;
void main() {
  gl_Position = position;
  to_pixels = red;
}
