#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
// Every kind of access by address: words, vectors, matrices, structures, a list, atomic operations.
layout(local_size_x = 64) in;

layout(buffer_reference, buffer_reference_align = 4, scalar) buffer Words { uint word[]; };
layout(buffer_reference, buffer_reference_align = 4, scalar) buffer Vectors { vec3 vector[]; };
struct Light {
  vec3 position;
  float size;
  mat2x3 axes;
};
layout(buffer_reference, buffer_reference_align = 4, scalar) buffer Lights { Light light[]; };
layout(buffer_reference, buffer_reference_align = 8) buffer Node;
layout(buffer_reference, buffer_reference_align = 8, std430) buffer Node {
  uint value;
  uint counted;
  Node next;
};

layout(std430, binding = 0) buffer Results { uint results[64]; };
layout(push_constant) uniform Parameters { uvec2 data; } parameters;

uint follow(Node node) {
  uint sum = 0;
  for (uint i = 0; i < 4; ++i) {
    sum = sum * 10 + node.value;
    node = node.next;
  }
  return sum;
}

void main() {
  uint at = gl_GlobalInvocationID.x;
  Words words = Words(parameters.data);
  uint kind = words.word[0];
  uint offset = words.word[1];
  uvec2 data = uvec2(words.word[2], words.word[3]);
  if (kind == 0) {
    Words(data).word[at + offset] = at * 3;
    results[at] = Words(data).word[at + offset];
  } else if (kind == 1) {
    vec3 sum = Vectors(data).vector[at + offset] + vec3(1.0);
    results[at] = uint(sum.x + sum.y + sum.z);
  } else if (kind == 2) {
    Light light = Lights(data).light[at + offset];
    results[at] = uint(light.size + light.axes[1].z);
  } else if (kind == 3) {
    results[at] = follow(Node(data));
  } else {
    Node node = Node(data);
    results[at] = atomicAdd(node.counted, 1u) < 64u ? 1u : 0u;
  }
}
