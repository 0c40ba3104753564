#version 450
layout(location = 0) in vec4 position;
layout(binding = 0) uniform Bones { mat4 bones[64]; uint count; } data;
void main() {
  vec4 p = position;
  for (uint i = 0u; i < data.count; ++i) {
    mat4 bone = data.bones[(i + uint(gl_InstanceIndex)) % 64u];
    p = bone * p;
    if (p.w == 0.0) break;
  }
  gl_Position = p;
}
