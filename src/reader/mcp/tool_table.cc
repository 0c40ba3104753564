// SPDX-License-Identifier: Apache-2.0
#include "reader/mcp/tool_table.h"

namespace cairn {
namespace {

using Type = ToolType;

// ---- Parameters ----------------------------------------------------------------------------------------

constexpr ToolParameter kFile = {"file", Type::kFile, "Path of the .cairn file.", true};
constexpr ToolParameter kOffset = {
    "offset", Type::kNumber,
    "Rows to skip. For the next page, give the next_offset of this answer."};
constexpr ToolParameter kLimit = {"limit", Type::kNumber,
                                  "Rows at most, 1 to 500; 50 if not given."};
constexpr ToolParameter kName = {"name", Type::kText,
                                 "Only rows whose name or path contains this text."};
constexpr ToolParameter kFrames = {"frames", Type::kText, "A frame (7) or several (7-9), from 0.",
                                   false, "--frames"};
constexpr std::string_view kWorkStates[] = {"in flight", "completed", "not started", "unknown"};
constexpr std::string_view kLifeStates[] = {"alive", "destroyed"};
constexpr std::string_view kWorkTables[] = {"scopes",    "lists",   "submissions", "queues",
                                            "pipelines", "threads", "losses"};

constexpr ToolParameter kOfFile[] = {kFile};
constexpr ToolParameter kOfPage[] = {kFile, kOffset, kLimit};
constexpr ToolParameter kOfWork[] = {
    kFile,
    {"of", Type::kText,
     "Which table: scopes (draws, dispatches, copies and the markers around them; without this "
     "parameter), lists (executed command lists), submissions, queues, pipelines, threads (with "
     "their last API calls), losses (what the report lacks).",
     false, "", kWorkTables},
    {"state", Type::kText,
     "Only rows in this state on the GPU. Only for scopes and lists; other tables have no state.",
     false, "", kWorkStates},
    {"name", Type::kText,
     "Only rows whose name or path (of losses: whose text) contains this text. Not for "
     "submissions, which have no names."},
    {"list", Type::kNumber,
     "Only scopes of this command list: its index in the table lists. Only for scopes."},
    kOffset,
    kLimit};
constexpr ToolParameter kOfCalls[] = {
    kFile,
    kFrames,
    {"around", Type::kNumber, "The number of a call: lists it and its neighbours.", false,
     "--around"},
    {"context", Type::kNumber,
     "With around: how many neighbours on each side, 0 to 500; 10 if not given.", false,
     "--context"},
    {"function", Type::kText, "Only functions of this name or part of it: Draw, Create.", false,
     "--function"},
    {"object", Type::kText,
     "Only calls on this object, or with it as an argument: its number or name.", false,
     "--object"},
    {"thread", Type::kNumber, "Only calls of this thread, by its index.", false, "--thread"},
    {"submission", Type::kNumber,
     "Only what the N-th ExecuteCommandLists executed, counted from 1.", false, "--submission"},
    {"from", Type::kNumber,
     "Only calls from this number on. For the next page, give the next_from of this answer. Not "
     "with around.",
     false, "--from"},
    {"limit", Type::kNumber,
     "Calls at most, 1 to 500. If not given: 50; with around all that context asks for."}};
constexpr ToolParameter kOfState[] = {
    kFile,
    {"call", Type::kNumber, "Number of a call on a command list, as suspects and calls have it.",
     true, "--call"}};
constexpr ToolParameter kOfMemory[] = {
    kFile,
    {"address", Type::kText,
     "Only objects whose GPU memory contains this address, such as 0x70000040."},
    {"state", Type::kText, "Only objects in this state.", false, "", kLifeStates},
    kName,
    kOffset,
    kLimit};
constexpr ToolParameter kOfDiff[] = {
    {"first", Type::kFile, "Path of a .cairn file with a trace.", true},
    {"second", Type::kFile, "Path of the one that it is compared with.", true},
    kFrames,
    kOffset,
    kLimit};
constexpr ToolParameter kOfTriage[] = {
    {"paths", Type::kFiles, "Files, and folders whose .cairn files are read, at most 64.", true},
    kOffset,
    kLimit};
constexpr ToolParameter kOfImage[] = {
    kFile,
    {"call", Type::kNumber, "Play all that was submitted up to this call.", false, "--call"},
    {"frame", Type::kNumber, "Play to the end of this frame, from 0; the last if not given.", false,
     "--frame"},
    {"objects", Type::kTexts, "Only these textures, by number or name.", false, "--object"},
    {"stretch", Type::kFlag, "Map each image's smallest value to black, its largest to white.",
     false, "--stretch"}};
constexpr ToolParameter kOfBisect[] = {
    kFile,
    {"hang_timeout", Type::kNumber,
     "Seconds after which GPU work counts as a hang; 10 if not given.", false, "--hang-timeout"},
    {"runs", Type::kNumber,
     "How often the whole trace is played first, 1 to 1000; 2 if not given. Give more for a "
     "failure that comes only now and then.",
     false, "--runs"}};

// ---- Verbs ---------------------------------------------------------------------------------------------

constexpr std::string_view kInfo[] = {"info", "--json"};
constexpr std::string_view kReport[] = {"report", "--json"};
constexpr std::string_view kCalls[] = {"calls", "--json"};
constexpr std::string_view kState[] = {"state", "--json"};
constexpr std::string_view kDiff[] = {"diff", "--json"};
constexpr std::string_view kTriage[] = {"triage", "--json"};
constexpr std::string_view kImages[] = {"images", "--json"};
constexpr std::string_view kBisect[] = {"bisect", "--json", "--progress", "--no-output",
                                        "--no-why"};

// ---- Tools ---------------------------------------------------------------------------------------------

constexpr Tool kTools[] = {
    {ToolName::kOpen, "open", "Open a file",
     "Call this first. Says what a .cairn file holds: the program, what happened to it, how many "
     "command lists, calls and frames there are, and what is damaged. 'tools' names the tools that "
     "can answer questions about this file; 'tools_with_allow_run' names those that can play its "
     "trace, which are listed only if the user has started cairn mcp with --allow-run.",
     kInfo, "", kOfFile},
    {ToolName::kVerdict, "verdict", "The verdict",
     "The short answer: what went wrong (hang, crash, lost device), in which GPU work, how sure "
     "that is (how_sure: proven, likely, one of, unknown; nothing running or all completed if no "
     "work is suspected) and why; the incidents, the process, the devices and the three most "
     "likely "
     "suspects. Needs a file with a report.",
     kReport, "verdict", kOfFile},
    {ToolName::kSuspects, "suspects", "GPU work that may be at fault",
     "All suspects, the most likely first: each with its path of markers, state, command list, "
     "pipeline with shaders, resources that were bound (also those destroyed too early), and "
     "'call': the number of its API call, to give to 'calls' (as around), 'state' and 'image' if "
     "the file has a trace. 'last_completed' is the last work that each queue completed: after a "
     "GPU fault without suspects the culprit may be there. 'queues' says for each GPU queue why. "
     "Needs a file with a report.",
     kReport, "suspects", kOfPage},
    {ToolName::kWork, "work", "Progress of the GPU",
     "What the GPU had completed, had in flight and had not started, in the order of submission. "
     "Ask with state 'in flight' first. Needs a file with a report.",
     kReport, "scopes", kOfWork},
    {ToolName::kCalls, "calls", "API calls of a trace",
     "Direct3D 12 calls in their order, with number, thread, object, arguments, result and, after "
     "a crash, their state on the GPU. Give around to see the neighbours of a suspect's call. "
     "Needs a file with a trace.",
     kCalls, "calls", kOfCalls},
    {ToolName::kState, "state", "Pipeline and bindings at a call",
     "The pipeline and everything bound (root signature, descriptors, buffers, targets) at a call "
     "that a command list records, such as a suspect's. Needs a file with a trace.",
     kState, "", kOfState},
    {ToolName::kMemory, "memory", "Faulting addresses and resources",
     "Addresses at which the GPU or the program faulted, each with the resource that lies or lay "
     "there, resources destroyed while the GPU used them, lines of the kernel log, and all known "
     "resources and other objects with address, size, and when each was created and destroyed. "
     "Needs a file with a report.",
     kReport, "objects", kOfMemory},
    {ToolName::kDiff, "diff", "Compare two traces",
     "API calls that only one of two traces makes, such as a good run and a bad one. Needs files "
     "with traces.",
     kDiff, "differences", kOfDiff},
    {ToolName::kTriage, "triage", "Group many files by cause",
     "Groups of .cairn files with the same signature, the largest first, each with an example that "
     "the other tools can open.",
     kTriage, "groups", kOfTriage},
    {ToolName::kImage, "image", "Render targets and textures",
     "Plays the trace on this machine's GPU up to a call or the end of a frame, and returns the "
     "render targets as PNG images. Needs a file with a trace. A trace that crashes the GPU does "
     "so again: give a call before the culprit.",
     kImages, "", kOfImage, true},
    {ToolName::kBisect, "bisect", "Find the call that makes a trace fail",
     "Plays the trace on this machine's GPU many times, each time without part of its work, and "
     "finds the call without which it does not fail. Takes seconds to hours, and reports progress. "
     "A search that was cancelled resumes when you ask again with the same hang_timeout and runs. "
     "Needs a file with a trace that fails on this machine.",
     kBisect, "", kOfBisect, true},
};

}  // namespace

std::span<const Tool> AllTools() {
  return kTools;
}

}  // namespace cairn
