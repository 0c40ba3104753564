// SPDX-License-Identifier: Apache-2.0
//
// Measures GPU work by itself, whatever else the machine does.
#ifndef CAIRN_SAMPLES_WORK_CLOCK_H_
#define CAIRN_SAMPLES_WORK_CLOCK_H_

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

namespace sample {

class WorkClock {
 public:
  // Seconds since it was made. Work of a software device takes the time of the process's threads, which others do not
  // lengthen; it is at least that time divided among all cores.
  double Seconds() const {
    const double wall = std::chrono::duration<double>(Clock::now() - start_).count();
#ifdef _WIN32  // there std::clock is the time of day
    return wall;
#else
    const double cpu = static_cast<double>(std::clock() - cpu_start_) / CLOCKS_PER_SEC;
    const bool is_software = cpu > wall / 4;
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    return is_software ? std::min(wall, cpu / cores) : wall;
#endif
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start_ = Clock::now();
  const std::clock_t cpu_start_ = std::clock();
};

}  // namespace sample

#endif  // CAIRN_SAMPLES_WORK_CLOCK_H_
