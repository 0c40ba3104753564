// Branches, and no loop.
RWStructuredBuffer<uint> output : register(u0);
[numthreads(64, 1, 1)] void main(uint3 id : SV_DispatchThreadID) {
  uint sum = id.x;
  [branch] if (output[id.x] > 3) sum += output[id.x + 1]; else sum *= output[id.x + 2];
  [branch] switch (sum & 3) { case 0: sum = output[9]; break; case 1: sum += output[11] / sum; break; default: sum ^= output[sum]; }
  output[id.x] = sum;
}
