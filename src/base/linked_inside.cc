// SPDX-License-Identifier: Apache-2.0
//
// fmt and xxhash, compiled into the libraries that run in programs of others: those may bring versions of
// their own, and must not need ours (cairn_stands_alone in cmake/CairnTargets.cmake). Both are made for it:
// they come with their sources as headers.
#include <fmt/format-inl.h>

#define XXH_STATIC_LINKING_ONLY
#define XXH_IMPLEMENTATION
#include <xxhash.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// Declared extern by fmt/format.h.
template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template char decimal_point_impl(locale_ref);
template std::locale locale_ref::get<std::locale>() const;
#if FMT_VERSION >= 100000
template void vformat_to(buffer<char>&, string_view, typename vformat_args<>::type, locale_ref);
#endif

}  // namespace detail
FMT_END_NAMESPACE
