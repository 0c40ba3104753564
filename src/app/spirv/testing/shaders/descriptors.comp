#version 450
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
// Indices of all kinds: arrays of buffers, images and samplers, of constants of a specialised length, of matrices, vectors
// and addresses.
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint kCount = 9;
layout(buffer_reference, scalar) buffer Target { uint value; };
struct Light { mat3x4 matrix; vec4 colour; };
layout(binding = 0) buffer Results { uint results[]; };
layout(binding = 1) uniform Constants { vec4 special[kCount]; Light lights[4]; layout(row_major) mat4 rows; vec3 axis; };
layout(binding = 2) buffer Bins { uint count; uint values[]; } bins[3];
layout(binding = 3) uniform texture2D pictures[5];
layout(binding = 4) uniform sampler linear[2];
layout(binding = 5) uniform textureBuffer texels[];
layout(binding = 6) buffer Addresses { Target targets[]; };
layout(binding = 7, r32ui) uniform uimage2D counters[2];
layout(push_constant) uniform Parameters { uint one; uint other; } parameters;

void main() {
  uint at = gl_GlobalInvocationID.x;
  uint one = parameters.one + at;
  int other = int(parameters.other);
  float sum = special[one].x;
  sum += lights[one].matrix[other].y;
  sum += rows[one][other];
  sum += axis[other];
  bins[nonuniformEXT(one)].values[other] = at;
  sum += float(atomicMax(bins[one].values[one], 3u));
  sum += float(bins[1].values[one]);
  bins[one].count = 2u;
  sum += texture(sampler2D(pictures[nonuniformEXT(one)], linear[other]), vec2(0)).x;
  sum += texelFetch(texels[one], 0).x;
  sum += float(targets[one].value);
  imageStore(counters[other], ivec2(at), uvec4(1));
  sum += lights[2].colour.x + special[0].y;
  results[at] = uint(sum);
}
