// SPDX-License-Identifier: Apache-2.0
#include "truth/faults.h"

#include <cstring>

namespace cairn::truth {
namespace {

constexpr Place kFirst = {"Simulate", "Emit"};
constexpr Place kThirdSort = {"Simulate", "Sort", 3};
constexpr Place kIndirect = {"Cull", "Instances"};
constexpr Place kTrace = {"Ambient occlusion", "Trace"};
constexpr Place kCascade = {"Shadows", "Cascade 2", 2};
constexpr Place kTerrain = {"Opaque", "Terrain"};
constexpr Place kCharacters = {"Opaque", "Characters"};
constexpr Place kFoliage = {"Opaque", "Foliage"};
constexpr Place kDecal = {"Decals", "Blood"};
constexpr Place kProbes = {"Lighting", "Probes"};
constexpr Place kFog = {"Fog", "Scatter"};
constexpr Place kGlass = {"Transparent", "Glass"};
constexpr Place kParticles = {"Transparent", "Particles"};
constexpr Place kBloom = {"Bloom", "Up 2"};
constexpr Place kLast = {"Finish", "Final"};
constexpr Place kLights = {"Cull", "Lights"};
// On the compute queue, with no barrier from here to the end of the pass.
constexpr Place kBounds = {"Clusters", "Bounds"};
constexpr Place kAssign = {"Clusters", "Assign"};
constexpr Place kBones = {"Skinning", "Bones"};
constexpr Place kSkin = {"Skinning", "Vertices"};

constexpr Neighbour kNeighbours[] = {{{"Ambient occlusion", "Downsample"}, 0.25},
                                     {{"Lighting", "Tiles"}, 1}};

constexpr auto kStore = Misdeed::kStore;
constexpr auto kLoad = Misdeed::kLoad;
constexpr auto kLong = Misdeed::kLong;
constexpr auto kAll = Lanes::kAll;
constexpr auto kOne = Lanes::kOne;
constexpr auto kVertex = Stage::kVertex;
constexpr auto kPixel = Stage::kPixelOrCompute;
constexpr auto kNowhere = Where::kNowhere;
constexpr auto kWhileItRuns = When::kWhileItRuns;

// The faults that disturb a GPU longest come last: accesses to memory, and among these the draws.
constexpr Fault kFaults[] = {
    {"healthy", "nothing is wrong"},
    {"healthy-slow", "a dispatch takes a while", Misdeed::kSlow, kProbes},
    {"healthy-idle",
     "the program idles for longer than the watchdog waits",
     Misdeed::kNone,
     {},
     kNowhere,
     kAll,
     kPixel,
     Deed::kIdle,
     When::kAtTheEnd},

    {"long@first", "the first dispatch of a frame takes seconds", kLong, kFirst},
    {"long@middle", "a dispatch takes seconds", kLong, kProbes},
    {"long@sort", "the third of four dispatches in a label", kLong, kThirdSort},
    {"long@fog", "a dispatch in a secondary command buffer", kLong, kFog},
    {"long@async", "a dispatch of the compute queue, for which the other one waits", kLong, kTrace},
    {"long@last", "the last dispatch of a frame", kLong, kLast},
    {"long@end", "the last dispatch, nothing behind it", kLong, kLast, kNowhere, kAll, kPixel,
     Deed::kNothing, kWhileItRuns, true},
    {"endless@middle", "a dispatch waits for a word that nobody writes", Misdeed::kEndless,
     kProbes},
    {"endless@async", "the same on the compute queue", Misdeed::kEndless, kTrace},
    {"groups@indirect", "an indirect dispatch of absurdly many groups", Misdeed::kAbsurdCount,
     kIndirect},
    {"groups@async", "the same on the compute queue", Misdeed::kAbsurdCount, kSkin},
    {"long@instances", "the first of three dispatches without barriers", kLong, kIndirect},
    {"long@lights", "the second of them", kLong, kLights},
    {"long@bounds", "the first of three without barriers, on the compute queue", kLong, kBounds},
    {"long@assign", "the second of them", kLong, kAssign},
    {"pixel-long@glass", "a pixel shader takes seconds", kLong, kGlass},
    {"pixel-long@decal", "the same in a secondary command buffer", kLong, kDecal},
    {"instances@particles", "an indirect draw of absurdly many instances", Misdeed::kAbsurdCount,
     kParticles},

    {"event-never", "a command waits for an event that nobody sets", Misdeed::kWaitForEvent,
     kProbes},
    {"semaphore-never@post", "a submission waits for a semaphore that nobody signals",
     Misdeed::kWaitForever, kLast},
    {"semaphore-never@async", "the same on the compute queue", Misdeed::kWaitForever, kTrace},
    {"semaphore-too-far", "a submission waits for a value that is never signalled",
     Misdeed::kWaitTooFar, kLast},
    {"deadlock", "two queues wait for each other", Misdeed::kDeadlock, kTrace},

    {"segv@long", "SIGSEGV in another thread while a dispatch runs", kLong, kProbes, kNowhere, kAll,
     kPixel, Deed::kSegmentationFault},
    {"abort@long", "abort while a dispatch runs", kLong, kProbes, kNowhere, kAll, kPixel,
     Deed::kAbort},
    {"fpe@async", "SIGFPE while a dispatch of the compute queue runs", kLong, kTrace, kNowhere,
     kAll, kPixel, Deed::kDivideByZero},
    {"stack@long", "a stack overflows while a dispatch runs", kLong, kProbes, kNowhere, kAll,
     kPixel, Deed::kStackOverflow},
    {"segv-idle",
     "SIGSEGV when all work has finished",
     Misdeed::kNone,
     {},
     kNowhere,
     kAll,
     kPixel,
     Deed::kSegmentationFault,
     When::kAtTheEnd},
    {"kill@long", "SIGKILL while a dispatch runs", kLong, kProbes, kNowhere, kAll, kPixel,
     Deed::kKill},
    {"kill@end", "SIGKILL while the last dispatch runs, nothing behind it", kLong, kLast, kNowhere,
     kAll, kPixel, Deed::kKill, kWhileItRuns, true},
    {"kill@async", "SIGKILL while a dispatch of the compute queue runs", kLong, kTrace, kNowhere,
     kAll, kPixel, Deed::kKill},
    {"kill@instances", "SIGKILL while the first of three dispatches without barriers runs", kLong,
     kIndirect, kNowhere, kAll, kPixel, Deed::kKill},
    {"kill@bounds", "the same on the compute queue", kLong, kBounds, kNowhere, kAll, kPixel,
     Deed::kKill},
    {"segv@assign", "SIGSEGV while the second of them runs", kLong, kAssign, kNowhere, kAll, kPixel,
     Deed::kSegmentationFault},
    {"kill-unsubmitted",
     "SIGKILL with everything recorded and nothing submitted",
     Misdeed::kNone,
     {},
     kNowhere,
     kAll,
     kPixel,
     Deed::kKill,
     When::kBeforeAnything},
    {"kill-submitted",
     "SIGKILL right behind the submissions",
     Misdeed::kNone,
     {},
     kNowhere,
     kAll,
     kPixel,
     Deed::kKill,
     When::kAfterSubmit},
    {"kill-idle",
     "SIGKILL when all work has finished",
     Misdeed::kNone,
     {},
     kNowhere,
     kAll,
     kPixel,
     Deed::kKill,
     When::kAtTheEnd},
    {"term@long", "SIGTERM while a dispatch runs", kLong, kProbes, kNowhere, kAll, kPixel,
     Deed::kTerminate},
    {"exit@long", "the program exits while a dispatch runs", kLong, kProbes, kNowhere, kAll, kPixel,
     Deed::kExit},

    {"store-far-all@first", "all lanes store to nowhere, first dispatch of a frame", kStore, kFirst,
     Where::kFar},
    {"store-far-all@middle", "all lanes store to nowhere", kStore, kProbes, Where::kFar},
    {"store-far-one@middle", "one lane stores to nowhere", kStore, kProbes, Where::kFar, kOne},
    {"store-far-all@sort", "the third of four dispatches in a label", kStore, kThirdSort,
     Where::kFar},
    {"store-far-one@indirect", "one lane of an indirect dispatch, no barrier behind it", kStore,
     kIndirect, Where::kFar, kOne},
    {"store-far-all@fog", "a dispatch in a secondary command buffer", kStore, kFog, Where::kFar},
    {"store-far-all@async", "a dispatch of the compute queue", kStore, kTrace, Where::kFar},
    {"store-far-one@async", "one lane of it", kStore, kTrace, Where::kFar, kOne},
    {"store-far-all@last", "the last dispatch of a frame", kStore, kLast, Where::kFar},
    {"store-far-one@last", "one lane of it", kStore, kLast, Where::kFar, kOne},
    {"store-far-all@end", "the last dispatch, nothing behind it", kStore, kLast, Where::kFar, kAll,
     kPixel, Deed::kNothing, kWhileItRuns, true},
    {"store-far-one@end", "one lane of the last dispatch, nothing behind it", kStore, kLast,
     Where::kFar, kOne, kPixel, Deed::kNothing, kWhileItRuns, true},
    {"store-near-all@middle", "behind the end of a buffer", kStore, kProbes, Where::kNear},
    {"store-near-one@bloom", "one lane behind the end of a buffer", kStore, kBloom, Where::kNear,
     kOne},
    {"store-null-all@middle", "through a null pointer", kStore, kProbes, Where::kNull},
    {"store-freed-all@middle", "to memory that was freed", kStore, kProbes, Where::kFreed},
    {"store-freed-one@bloom", "one lane to memory that was freed", kStore, kBloom, Where::kFreed,
     kOne},
    {"destroyed-store@middle", "through a descriptor of a destroyed buffer",
     Misdeed::kStoreToDestroyed, kProbes},
    {"destroyed-store-one@fog", "one lane, in a secondary command buffer",
     Misdeed::kStoreToDestroyed, kFog, kNowhere, kOne},
    {"destroyed-load@middle", "a load through a descriptor of a destroyed buffer",
     Misdeed::kLoadFromDestroyed, kProbes},
    {"load-far-all@middle", "all lanes load from nowhere", kLoad, kProbes, Where::kFar},
    {"load-far-one@middle", "one lane loads from nowhere", kLoad, kProbes, Where::kFar, kOne},
    {"load-far-all@async", "on the compute queue", kLoad, kTrace, Where::kFar},
    {"load-far-all@end", "the last dispatch, nothing behind it", kLoad, kLast, Where::kFar, kAll,
     kPixel, Deed::kNothing, kWhileItRuns, true},
    {"load-freed-all@bloom", "from memory that was freed", kLoad, kBloom, Where::kFreed},

    {"store-far-all@lights", "the second of three dispatches without barriers", kStore, kLights,
     Where::kFar},
    {"store-far-all@bones", "the fourth dispatch of the compute queue", kStore, kBones,
     Where::kFar},
    {"store-far-all@bounds", "the first of three without barriers, on the compute queue", kStore,
     kBounds, Where::kFar},
    {"store-far-one@bounds", "one lane of it", kStore, kBounds, Where::kFar, kOne},
    {"store-far-all@assign", "the second of them", kStore, kAssign, Where::kFar},
    {"store-far-one@assign", "one lane of it", kStore, kAssign, Where::kFar, kOne},
    {"load-far-all@bounds", "the first of them loads from nowhere", kLoad, kBounds, Where::kFar},
    {"store-far-all@beside", "on the compute queue, beside a slow dispatch of the other", kStore,
     kTrace, Where::kFar, kAll, kPixel, Deed::kNothing, kWhileItRuns, false, true},
    {"store-far-one@beside", "one lane of it", kStore, kTrace, Where::kFar, kOne, kPixel,
     Deed::kNothing, kWhileItRuns, false, true},
    {"load-far-all@beside", "a load there", kLoad, kTrace, Where::kFar, kAll, kPixel,
     Deed::kNothing, kWhileItRuns, false, true},
    {"arguments-destroyed@async",
     "indirect arguments from a destroyed buffer, on the compute queue", Misdeed::kFetchArguments,
     kSkin},

    {"pixel-store-all@terrain", "all pixels store to nowhere", kStore, kTerrain, Where::kFar},
    {"pixel-store-one@cascade", "one pixel of the second draw in a label", kStore, kCascade,
     Where::kFar, kOne},
    {"pixel-store-all@decal", "in a secondary command buffer", kStore, kDecal, Where::kFar},
    {"pixel-load-all@glass", "all pixels load from nowhere", kLoad, kGlass, Where::kFar},
    {"vertex-load-all@characters", "all vertices load from nowhere", kLoad, kCharacters,
     Where::kFar, kAll, kVertex},
    {"vertex-store-one@foliage", "one vertex stores to nowhere", kStore, kFoliage, Where::kFar,
     kOne, kVertex},
    {"vertices-destroyed@foliage", "vertices from a destroyed buffer", Misdeed::kFetchVertices,
     kFoliage},
    {"indices-destroyed@terrain", "indices from a destroyed buffer", Misdeed::kFetchIndices,
     kTerrain},
    {"arguments-destroyed@characters", "indirect arguments of a draw from a destroyed buffer",
     Misdeed::kFetchArguments, kCharacters},
};

std::vector<const char*> KindsOfDeed(Deed deed) {
  switch (deed) {
    case Deed::kKill:
    case Deed::kTerminate: return {"killed"};
    case Deed::kExit: return {"exited"};
    case Deed::kNothing:
    case Deed::kIdle: return {"nothing wrong"};
    default: return {"CPU fault"};
  }
}

}  // namespace

std::span<const Neighbour> Neighbours() {
  return kNeighbours;
}

std::span<const Fault> Faults() {
  return kFaults;
}

const Fault* FindFault(const std::string& name) {
  for (const Fault& fault : kFaults) {
    if (name == fault.name) return &fault;
  }
  return nullptr;
}

const char* NameOf(Backend backend) {
  switch (backend) {
    case Backend::kCpu: return "lavapipe";
    case Backend::kGpu: return "gpu";
    case Backend::kScripted: return "scripted";
  }
  return "";
}

std::vector<const char*> RightKinds(const Fault& fault, Backend backend) {
  if (fault.deed != Deed::kNothing) return KindsOfDeed(fault.deed);
  switch (fault.misdeed) {
    case Misdeed::kNone:
    case Misdeed::kSlow: return {"nothing wrong"};
    case Misdeed::kLong:
    case Misdeed::kEndless:
    case Misdeed::kAbsurdCount: return {"GPU hang"};
    case Misdeed::kWaitForEvent: return {"GPU hang", "endless wait"};
    case Misdeed::kWaitForever:
    case Misdeed::kWaitTooFar: return {"endless wait"};
    case Misdeed::kDeadlock: return {"deadlock"};
    default: break;
  }
  if (backend == Backend::kCpu) return {"CPU fault"};
  // NVIDIA's driver (580) does not lose the device over a load: it stands still.
  const bool loads =
      fault.misdeed == Misdeed::kLoad || fault.misdeed == Misdeed::kLoadFromDestroyed ||
      fault.misdeed == Misdeed::kFetchVertices || fault.misdeed == Misdeed::kFetchIndices ||
      fault.misdeed == Misdeed::kFetchArguments;
  if (loads && backend == Backend::kGpu) return {"GPU fault", "device lost", "GPU hang"};
  return {"GPU fault", "device lost"};
}

const char* RoleOf(const Fault& fault) {
  if (fault.place.label == nullptr || fault.misdeed == Misdeed::kWaitForever ||
      fault.misdeed == Misdeed::kWaitTooFar || fault.misdeed == Misdeed::kDeadlock) {
    return "";
  }
  if (fault.misdeed == Misdeed::kSlow) return "slow";
  return fault.deed == Deed::kNothing ? "culprit" : "running";
}

const char* GroupOf(const Fault& fault) {
  if (fault.deed != Deed::kNothing && fault.deed != Deed::kIdle) return "death";
  switch (fault.misdeed) {
    case Misdeed::kNone:
    case Misdeed::kSlow: return "healthy";
    case Misdeed::kLong:
    case Misdeed::kEndless:
    case Misdeed::kAbsurdCount:
    case Misdeed::kWaitForEvent: return "hang";
    case Misdeed::kWaitForever:
    case Misdeed::kWaitTooFar:
    case Misdeed::kDeadlock: return "wait";
    default: return "memory";
  }
}

bool NeedsTwoQueues(const Fault& fault) {
  return fault.misdeed == Misdeed::kDeadlock;
}

}  // namespace cairn::truth
