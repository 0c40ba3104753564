// SPDX-License-Identifier: Apache-2.0
//
// Puts our functions in the places of others: in import tables, in tables of methods, in results of
// GetProcAddress. Our function calls the replaced one. Others replace functions as well, before and
// after us, and several libraries may have one of the same name: so each replaced function has one
// of ours for itself, which knows the function to call.
#ifndef CAIRN_APP_REPLACEMENT_REPLACEMENT_H_
#define CAIRN_APP_REPLACEMENT_REPLACEMENT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

namespace cairn {

// `handler` takes the function that was replaced, and then its arguments.
// `most`: so many functions of one kind, of all implementations in a process and of others who replaced them.
template <auto handler, size_t most = 8>
class Replacement;

template <typename Result, typename... Args, Result (*handler)(Result (*next)(Args...), Args...),
          size_t most>
class Replacement<handler, most> {
 public:
  using Function = Result (*)(Args...);

  // Returns the replacement for `function`, the same one each time. Returns a replacement
  // unchanged. Null if there is no room for more: `function` must then stay in place. Allocates
  // nothing; any thread.
  static void* Over(void* function) {
    if (function == nullptr) return nullptr;
    for (const Function own : kOwn) {
      if (reinterpret_cast<void*>(own) == function) return function;
    }
    const auto wanted = reinterpret_cast<Function>(function);
    for (size_t i = 0; i < most; ++i) {
      Function known = nullptr;
      if (next_[i].compare_exchange_strong(known, wanted, std::memory_order_acq_rel) ||
          known == wanted) {
        return reinterpret_cast<void*>(kOwn[i]);
      }
    }
    return nullptr;
  }

 private:
  template <size_t i>
  static Result Call(Args... args) {
    return handler(next_[i].load(std::memory_order_acquire), args...);
  }
  template <size_t... i>
  static constexpr std::array<Function, most> Calls(std::index_sequence<i...>) {
    return {&Call<i>...};
  }

  static constexpr std::array<Function, most> kOwn = Calls(std::make_index_sequence<most>());
  static inline constinit std::array<std::atomic<Function>, most> next_ = {};
};

// While one lives, this thread is inside of a function of ours: calls meanwhile come from the
// implementation, or from a layer between us and it.
class InsideScope {
 public:
  InsideScope() : outermost_(depth_++ == 0) {}
  ~InsideScope() { --depth_; }
  InsideScope(const InsideScope&) = delete;
  InsideScope& operator=(const InsideScope&) = delete;

  // The program's own call.
  bool outermost() const { return outermost_; }

 private:
  static inline constinit thread_local int depth_ = 0;
  const bool outermost_;
};

}  // namespace cairn

#endif  // CAIRN_APP_REPLACEMENT_REPLACEMENT_H_
