// SPDX-License-Identifier: Apache-2.0
//
// From a fault of the table to what is recorded differently for it.
#ifndef CAIRN_TESTS_TRUTH_INJECTOR_H_
#define CAIRN_TESTS_TRUTH_INJECTOR_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "truth/faults.h"
#include "truth/recorder.h"

namespace cairn::truth {

struct Durations {
  double long_s = 6;     // of what is taken for a hang, and ends
  double slow_s = 0.5;   // of what is not
  double endless_s = 4;  // of what waits for a word that nobody writes
  double limit_s = 20;   // after which whatever waits gives up
};

class Injector {
 public:
  // `scratch`: a work that no frame has, for measuring. `end_of_words`: a GPU address. `measured`: a file; the first
  // run writes what it measured there, and later ones take that: `cairn bisect` may leave out what measures.
  Injector(Gpu* gpu, Recorder* recorder, const Fault& fault, const Durations& durations,
           uint32_t scratch, uint64_t end_of_words, std::string measured)
      : gpu_(*gpu),
        recorder_(*recorder),
        fault_(fault),
        durations_(durations),
        scratch_(scratch),
        end_of_words_(end_of_words),
        measured_(std::move(measured)) {}

  // Fills in `injection`, whose work is set. Measures the device for what has to take a certain time.
  void Prepare(bool draw, Injection* injection);
  // The same for innocent work: a dispatch that takes `share` of Durations::slow_s.
  void PrepareNeighbour(double share, Injection* injection);
  // Destroys what the fault uses: between recording and submitting.
  void DestroyVictim();

 private:
  void Access(Injection* injection);
  // The recorded work becomes one that takes about so long; `vary_trips`: by its loops, otherwise by its size.
  void MakeLast(double seconds, bool draw, bool vary_trips, Injection* injection);
  double Measure(bool draw, const Injection& injection);

  Gpu& gpu_;
  Recorder& recorder_;
  const Fault& fault_;
  const Durations durations_;
  const uint32_t scratch_;
  const uint64_t end_of_words_;
  const std::string measured_;
  GpuBuffer victim_;
};

}  // namespace cairn::truth

#endif  // CAIRN_TESTS_TRUTH_INJECTOR_H_
