// SPDX-License-Identifier: Apache-2.0
//
// The sentences of `cairn why` that its text and its Markdown share. Names of shaders and programs are in them, made
// visible; Markdown needs more (`Quote`).
#ifndef CAIRN_READER_VIEW_WHY_WORDS_H_
#define CAIRN_READER_VIEW_WHY_WORDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/view/why_text.h"
#include "reader/why/why_search.h"

namespace cairn::cli {

// Makes a text from outside, such as a name in a shader, fit for what is printed.
using Quote = std::string (*)(std::string_view text);

// "program" and "run", "trace" and "replay".
const char* WholeWord(const WhyTold& told);
std::string RunsInWords(const WhyTold& told, uint64_t count);

const char* VerdictWord(WhyVerdict verdict);
// A value of a loop's condition, from its bits.
std::string ValueText(uint32_t bits, const LoopNote& loop);
// "pixel (3, 4)"; "" if it is not known.
std::string InvocationText(InvocationKind kind, const uint32_t (&invocation)[4]);
// "load", "store", "atomic operation".
const char* AccessWord(AccessKind kind);
// A checked index of the first access by descriptor that missed.
struct ShownIndex {
  const char* kind;  // "descriptor", "element"
  int64_t index;
  uint32_t bound;
  bool is_inside;
};
// In their order; none if they are not known.
std::vector<ShownIndex> ShownIndices(const AccessNote& access);

// The cause in a sentence: "The failure depends on what the shaders read from fogVolume (set 0, binding 3, storage
// buffer), or write to it."
std::string CauseInWords(const WhyResult& result, Quote quote);
// "fogVolume (set 0, binding 3, storage buffer)", "the push constants (camera)", "vertex input uv (location 2)".
std::string BindingInWords(const BindingNote& binding, Quote quote);
// "in 3 of 3 runs".
std::string UnchangedInWords(const WhyTold& told);
// "the program does not fail: 3 of 3 runs were clean".
std::string CleanInWords(const WhyTold& told);
// "With loops cut after 65,536 trips the program failed in 0 of 4 runs, without in 4 of 4."; and that some did not end.
std::vector<std::string> CountsInWords(const WhyTold& told, const WhyResult& result);

// "pixel" of Direct3D, "fragment" of Vulkan; "" if it is not known.
std::string_view StageWord(const ShaderNote& note);
// The name of the pipeline with this shader; "" if none is known.
std::string PipelineOf(const WhyTold& told, const ShaderNote& note);

// "./game hangs, in 3 of 3 runs.", "./game: no cause: the program does not fail: 3 of 3 runs were clean."
std::string HeadlineOf(const WhyTold& told);

// A loop that was cut, an access that missed, a call whose counts were limited, or a variable of a binding that was empty.
struct ShownPlace {
  const ShaderNote* note = nullptr;  // among the results; null for a call
  // "fog.frag:41", "fragment shader 00000000000000a1", "pixel shader DXBC 00000000000000a1 of pipeline "Fog""; not quoted
  std::string place;
  std::string
      source;  // its line, without what it is indented by; "" if it is not known; not quoted
  std::string number;  // "loop 2 of 3 of the shader, in march()"
  // "19,200 of 20,000 executions reached the cut, the first in pixel (12, 40); its condition i < 3.0 compared 0.5 and 3"
  std::string record;
};
// Those of the cause, the most important first: at most eight. Empty for changes without places.
std::vector<ShownPlace> ShownPlaces(const WhyTold& told, const WhyResult& result, Quote quote);
// Sentences about all of them: others, which are enough, what more trips do.
std::vector<std::string> PlacesInWords(const WhyTold& told, const WhyResult& result, Quote quote);

// The heading of a cause, by its index among the results of `found`: "Why", "Where it shows" for a place in a shader whose
// reason is told already, "With more time", "Helps as well".
const char* HeadingOf(const WhyFound& found, size_t cause);

// The sentence of an answer without a cause.
std::string NoCauseInWords(const WhyTold& told);
// "barrier in front (1 of 1 fails)".
std::vector<std::string> NotTheCause(const WhyFound& found);
// "loops cut (no loop)", for each reason.
std::vector<std::string> DoesNotApply(const WhyFound& found, Quote quote);
// Sentences: what is not proven, was not limited or not asked, and what weakens the answer.
std::vector<std::string> DoubtsInWords(const WhyTold& told);

// The command that asks the same again.
std::string CommandOf(const WhyTold& told);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_WHY_WORDS_H_
