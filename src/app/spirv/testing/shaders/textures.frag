#version 450
// Handles and derivatives inside and behind a loop.
layout(set = 0, binding = 0) uniform sampler2D picture;
layout(location = 0) in vec2 where;
layout(location = 0) out vec4 colour;
void main() {
  vec4 sum = vec4(0);
  vec2 at = where;
  for (int i = 0; i < 8; ++i) {
    vec4 here = texture(picture, at);
    if (here.a < 0.1) discard;
    at += dFdx(at) + here.xy;
    if (at.x > 10.0) break;
    sum += here;
  }
  colour = sum + textureLod(picture, at, 0.0);
}
