// A loop whose end depends on memory, and an atomic.
RWStructuredBuffer<uint> output : register(u0);
[numthreads(64, 1, 1)] void main(uint3 id : SV_DispatchThreadID) {
  uint sum = 0;
  for (uint i = 0; i < output[0]; i += output[1]) sum = sum * 5 + output[i];
  InterlockedAdd(output[id.x], sum);
}
