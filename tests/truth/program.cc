// SPDX-License-Identifier: Apache-2.0
//
// truth_program: runs some frames on a Vulkan device, injects one fault, and leaves the truth about it in a
// folder. It knows nothing of Cairn. README.md says what the files hold.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "truth/deeds.h"
#include "truth/injector.h"
#include "truth/recorder.h"
#include "truth/submitter.h"

namespace cairn::truth {
namespace {

constexpr uint32_t kFaultFrame = 2;
constexpr int kUnsupported = 77;

struct Options {
  std::string fault = "healthy";
  std::string folder = ".";
  std::string scripted;
  bool list = false;
  bool dispatches_only = false;
  double idle_s = 3;
  Durations durations;
};

void ReadOptions(int argc, char** argv, Options* options) {
  CLI::App app(
      "Runs some frames on a Vulkan device, injects one fault, and writes down what really ran.");
  app.add_flag("--list", options->list,
               "The faults, the group of each, what it is and whether it is of a draw, one a line");
  app.add_option("--fault", options->fault, "Which one")->capture_default_str();
  app.add_option("--truth", options->folder,
                 "Folder for truth.json and words; on tmpfs, so that the GPU can write it");
  app.add_flag("--dispatches-only", options->dispatches_only,
               "Leave the render passes out of the frames, and with them all draws");
  app.add_option("--scripted", options->scripted, "The library of tests/icd, which runs this");
  app.add_option("--long", options->durations.long_s,
                 "Seconds that work takes which is to look like a hang")
      ->capture_default_str();
  app.add_option("--slow", options->durations.slow_s, "Seconds that work takes which is not")
      ->capture_default_str();
  app.add_option("--endless", options->durations.endless_s,
                 "Seconds after which work gives up that waits for ever")
      ->capture_default_str();
  app.add_option("--limit", options->durations.limit_s, "Seconds after which everything gives up")
      ->capture_default_str();
  app.add_option("--idle", options->idle_s, "Seconds that healthy-idle does nothing")
      ->capture_default_str();
  app.footer(
      "\nExamples:\n"
      "  truth_program --fault store-far-all@middle --truth /dev/shm/a\n"
      "  cairn run -o a.cairn -- truth_program --fault long@async --truth /dev/shm/a\n"
      "\nExit code: 0 when all work finished, 1 when the device was lost, 2 for wrong arguments or "
      "when it\n"
      "could not start, 3 when the limit was reached, 77 when the device cannot show this "
      "fault.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
}

uint32_t FindWork(const std::vector<Work>& works, const Place& place) {
  if (place.label == nullptr) return kNoWork;
  for (uint32_t i = 0; i < works.size(); ++i) {
    const Work& work = works[i];
    if (work.frame == kFaultFrame && std::string(work.pass) == place.pass &&
        std::string(work.label) == place.label && work.ordinal == place.ordinal) {
      return i;
    }
  }
  Fail(std::string("the frame has no work ") + place.pass + "/" + place.label);
}

void WriteStrings(std::FILE* out, const char* key, const std::vector<const char*>& texts) {
  std::fprintf(out, " \"%s\": [", key);
  for (size_t i = 0; i < texts.size(); ++i)
    std::fprintf(out, "%s\"%s\"", i == 0 ? "" : ", ", texts[i]);
  std::fprintf(out, "],\n");
}

bool IsOfDraw(const Fault& fault) {
  if (fault.place.label == nullptr) return false;
  const std::vector<Work> works = WorksOf(FrameKind::kWhole, kFaultFrame + 1);
  return IsDraw(works[FindWork(works, fault.place)].type);
}

const char* FetchOf(const Fault& fault) {
  switch (fault.misdeed) {
    case Misdeed::kFetchVertices: return "vertices";
    case Misdeed::kFetchIndices: return "indices";
    case Misdeed::kFetchArguments: return "arguments";
    default: return "";
  }
}

// Returns the dispatch that a barrier holds back until work that fetches from a destroyed buffer
// has ended: that work may have no pixel, or no invocation, that says so. Returns kNoWork if there
// is none, or for another fault.
uint32_t WorkBehind(const Fault& fault, const std::vector<Work>& works, uint32_t culprit) {
  const bool fetches = FetchOf(fault)[0] != '\0';
  for (uint32_t i = culprit + 1; fetches && i < works.size(); ++i) {
    const Work& work = works[i];
    const bool dispatch =
        work.type == WorkType::kDispatch || work.type == WorkType::kDispatchIndirect;
    if (work.list == works[culprit].list && work.frame == works[culprit].frame && dispatch)
      return i;
  }
  return kNoWork;
}

void WriteWork(std::FILE* out, const char* name, uint32_t work) {
  if (work == kNoWork) {
    std::fprintf(out, " \"%s\": null,\n", name);
  } else {
    std::fprintf(out, " \"%s\": %u,\n", name, work);
  }
}

// All names are ours, and need no escapes; that of the device does not matter so much.
void WriteTruth(const std::string& file, const Gpu& gpu, const Fault& fault, FrameKind kind,
                const std::vector<Work>& works, uint32_t culprit,
                const std::vector<std::string>& vain) {
  std::FILE* out = std::fopen(file.c_str(), "w");
  if (out == nullptr) Fail("cannot write " + file);
  std::string device = gpu.name();
  std::erase_if(
      device, [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' '; });
  std::fprintf(out, "{\"version\": 1,\n \"fault\": \"%s\",\n \"what\": \"%s\",\n", fault.name,
               fault.what);
  std::fprintf(out, " \"backend\": \"%s\",\n \"device\": \"%s\",\n", NameOf(gpu.backend()),
               device.c_str());
  std::fprintf(out, " \"frame\": \"%s\",\n", NameOf(kind));
  std::fprintf(out, " \"two_queues\": %s,\n", gpu.two_queues() ? "true" : "false");
  std::fprintf(out, " \"words\": \"%s\",\n", gpu.words_are_imported() ? "imported" : "copied");
  WriteStrings(out, "right_kinds", RightKinds(fault, gpu.backend()));
  std::fprintf(out, " \"role\": \"%s\",\n", RoleOf(fault));
  WriteWork(out, "work", culprit);
  WriteWork(out, "behind", culprit == kNoWork ? kNoWork : WorkBehind(fault, works, culprit));
  std::fprintf(out, " \"fetches\": \"%s\",\n", FetchOf(fault));
  std::vector<const char*> names;
  for (const std::string& name : vain) names.push_back(name.c_str());
  WriteStrings(out, "vain_semaphores", names);
  std::fprintf(out, " \"works\": [\n");
  for (size_t i = 0; i < works.size(); ++i) {
    const Work& work = works[i];
    std::fprintf(out,
                 "  {\"path\": [\"%s\", \"%s\", \"%s\"], \"type\": \"%s\", \"ordinal\": %u}%s\n",
                 FrameName(work.frame).c_str(), work.pass, work.label, NameOf(work.type),
                 work.ordinal, i + 1 < works.size() ? "," : "");
  }
  std::fprintf(out, " ]}\n");
  if (std::fclose(out) != 0) Fail("cannot write " + file);
}

int End(Outcome outcome, Notes* notes) {
  notes->StopWatching();
  if (outcome == Outcome::kFinished) {
    notes->NoteGoodEnd();
    return 0;
  }
  std::fprintf(stderr, "truth_program: %s\n",
               outcome == Outcome::kLost ? "the device is lost" : "the limit was reached");
  std::fflush(nullptr);
  // A device that is lost, or hangs, may never let itself be destroyed.
  std::_Exit(outcome == Outcome::kLost ? 1 : 3);
}

int Run(const Options& options, const Fault& fault) {
  const uint32_t frame_count = fault.nothing_behind ? kFaultFrame + 1 : kFaultFrame + 2;
  const FrameKind kind = options.dispatches_only ? FrameKind::kDispatchesOnly : FrameKind::kWhole;
  if (options.dispatches_only && IsOfDraw(fault))
    Fail(std::string(fault.name) + " needs a draw, and --dispatches-only has none");
  std::vector<Work> works = WorksOf(kind, frame_count);
  std::vector<Injection> injections(1);
  injections[0].work = FindWork(works, fault.place);
  uint32_t culprit = injections[0].work;
  if (fault.misdeed == Misdeed::kWaitForEvent) {
    works.push_back(works[culprit]);
    works.back().label = kWaitLabel;
    works.back().type = WorkType::kWaitEvent;
    culprit = static_cast<uint32_t>(works.size() - 1);
  }
  const auto work_count = static_cast<uint32_t>(works.size());
  Notes notes(options.folder + "/words", work_count);
  Gpu gpu(options.scripted,
          options.dispatches_only ? Pipelines::kOfDispatches : Pipelines::kOfDraws);
  const Resources resources = CreateResources(&gpu, &notes, work_count);
  Submitter submitter(&gpu, fault, kFaultFrame, culprit == kNoWork ? kNoWork : works[culprit].list);
  const bool named = RoleOf(fault)[0] != '\0';
  WriteTruth(options.folder + "/truth.json", gpu, fault, kind, works, named ? culprit : kNoWork,
             submitter.vain());
  if (NeedsTwoQueues(fault) && !gpu.two_queues()) return kUnsupported;

  Recorder recorder(&gpu, &notes, &resources, &injections, kind);
  Injector injector(&gpu, &recorder, fault, options.durations, work_count,
                    resources.words.address + resources.words.size_bytes,
                    options.folder + "/measured");
  if (injections[0].work != kNoWork)
    injector.Prepare(IsDraw(works[injections[0].work].type), injections.data());
  for (const Neighbour& neighbour : Neighbours()) {
    if (!fault.neighbours) break;
    injections.emplace_back().work = FindWork(works, neighbour.place);
    injector.PrepareNeighbour(neighbour.share, &injections.back());
  }
  std::vector<std::vector<VkCommandBuffer>> frames;
  for (uint32_t frame = 0; frame < frame_count; ++frame)
    frames.push_back(recorder.RecordFrame(frame));
  injector.DestroyVictim();
  notes.StartWatching();
  if (fault.when == When::kBeforeAnything) DoIt(fault.deed, 0, &notes);

  // The first one alone, for what is made when it is first used; the others one behind the other.
  Outcome outcome = submitter.Submit(0, frames[0]);
  if (outcome == Outcome::kFinished) outcome = submitter.Wait(options.durations.limit_s);
  if (fault.deed != Deed::kNothing && fault.when == When::kWhileItRuns)
    DoItWhile(culprit, fault.deed, &notes);
  for (uint32_t frame = 1; frame < frame_count && outcome == Outcome::kFinished; ++frame) {
    if (frame == kFaultFrame) notes.NoteSubmission();
    outcome = submitter.Submit(frame, frames[frame]);
  }
  if (fault.when == When::kAfterSubmit) DoIt(fault.deed, 0, &notes);
  if (outcome == Outcome::kFinished) outcome = submitter.Wait(options.durations.limit_s);
  if (fault.when == When::kAtTheEnd) DoIt(fault.deed, options.idle_s, &notes);
  return End(outcome, &notes);
}

}  // namespace
}  // namespace cairn::truth

int main(int argc, char** argv) {
  using namespace cairn::truth;
  Options options;
  ReadOptions(argc, argv, &options);
  if (options.list) {
    for (const Fault& fault : Faults())
      std::printf("%s\t%s\t%s\t%s\n", fault.name, GroupOf(fault), fault.what,
                  IsOfDraw(fault) ? "draw" : "-");
    return 0;
  }
  const Fault* fault = FindFault(options.fault);
  if (fault == nullptr) Fail("no fault \"" + options.fault + "\"; --list names them");
  return Run(options, *fault);
}
