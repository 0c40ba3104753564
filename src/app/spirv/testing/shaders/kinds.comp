#version 450
// One binding of each kind, and what each gives in words of their own.
layout(local_size_x = 64) in;
struct Words { uint uniform_buffer, storage_image, combined, separate, texels, storage_texels, size, combined_size; };
layout(set = 0, binding = 0) buffer Results { Words words[]; } results;
layout(set = 0, binding = 1) uniform Numbers { uvec4 four; } numbers;
layout(set = 0, binding = 2, r32ui) uniform uimage2D stored;
layout(set = 0, binding = 3) uniform sampler2D combined;
layout(set = 0, binding = 4) uniform texture2D picture;
layout(set = 0, binding = 5) uniform sampler nearest;
layout(set = 0, binding = 6) uniform usamplerBuffer texels;
layout(set = 0, binding = 7, r32ui) uniform uimageBuffer counters;
void main() {
  uint at = gl_LocalInvocationIndex;
  ivec2 place = ivec2(at % 8, at / 8);
  vec2 middle = (vec2(place) + 0.5) / 8.0;
  Words words;
  words.uniform_buffer = numbers.four.y;
  words.storage_image = imageLoad(stored, place).x;
  words.combined = uint(textureLod(combined, middle, 0.0).x);
  words.separate = uint(textureLod(sampler2D(picture, nearest), middle, 0.0).x);
  words.texels = texelFetch(texels, int(at)).x;
  words.storage_texels = imageLoad(counters, int(at)).x;
  words.size = uint(imageSize(stored).x);
  words.combined_size = uint(textureSize(combined, 0).y);
  imageStore(stored, place, uvec4(at + 1));
  imageStore(counters, int(at), uvec4(at + 100));
  results.words[at] = words;
}
