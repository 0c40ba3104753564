// SPDX-License-Identifier: Apache-2.0
//
// PIX events and markers for Direct3D 12, on Windows and natively on Linux: names for GPU work that
// Cairn, PIX, RenderDoc and other tools show.
//
//   #include <cairn/pix.h>
//   PIXBeginEvent(list, PIX_COLOR(0, 160, 0), "Shadow cascade %d of %s", cascade, light.name());
//   list->DrawInstanced(3, 1, 0, 0);
//   PIXEndEvent(list);
//
// This header needs nothing but a C++11 compiler: no library, no Direct3D header. A context is a
// pointer to anything that has the methods BeginEvent, SetMarker (UINT, const void*, UINT) and
// EndEvent(), which command lists and queues have, whatever their calling convention. It takes the
// place of pix3.h for these macros; a source file includes one of the two.
//
//   PIXBeginEvent(context, colour, format, arguments...)    PIXBeginRetailEvent(...)
//   PIXEndEvent(context)                                    PIXEndRetailEvent(context)
//   PIXSetMarker(context, colour, format, arguments...)     PIXSetRetailMarker(...)
//   PIXScopedEvent(context, colour, format, arguments...)   PIXScopedRetailEvent(...)
//
// colour      PIX_COLOR(r, g, b), PIX_COLOR_INDEX(0 to 255), or PIX_COLOR_DEFAULT
// format      as for printf, narrow (UTF-8) or wide; must not be null. The reader formats it.
// arguments   at most 16 numbers, characters, enumerators, pointers and strings (narrow or wide,
//             null allowed). A string is read up to its terminator or its conversion's precision.
// An event of more than 512 bytes is cut. Nothing is allocated, nothing is kept after the call.
// Errors: none; nothing is returned or thrown. Threads: as the context's own methods have it.
// Cost: some 10 to 25 ns before the context is called (pix_bench, docs/performance.md).
// The bytes are those of PIX3 event blobs, versions 1 and 2: docs/reference/pix.md describes them.
// Calls without a context (PIXBeginEvent(colour, format, ...), PIXEndEvent()) are about the CPU. They
// do nothing here.
//
// Symbols that select the macros, to be defined before this header is included:
//   none              all of them
//   USE_PIX_RETAIL    the Retail macros only; the others do nothing
//   CAIRN_NO_PIX      none, whatever else is defined
// Macros that do nothing do not evaluate their arguments. USE_PIX, which pix3.h wants, is not needed.
//   CAIRN_PIX_BLOB_VERSION   1 (default: every tool reads it) or 2 (shorter)
//   CAIRN_PIX_TIMESTAMP      an expression for the event's time, in ticks of your choice; 0 (default)
//                            for none: the call then costs no look at a clock
// They may differ from one source file to the next.
#ifndef CAIRN_PIX_H_
#define CAIRN_PIX_H_

#if defined(_PIX3_H_)
#error "cairn/pix.h and pix3.h define the same macros: include one of them"
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if !defined(CAIRN_PIX_BLOB_VERSION)
#define CAIRN_PIX_BLOB_VERSION 1
#endif
#if !defined(CAIRN_PIX_TIMESTAMP)
#define CAIRN_PIX_TIMESTAMP 0
#endif

#if !defined(PIX_COLOR)
#define PIX_COLOR(r, g, b)                                                                 \
  (static_cast<std::uint64_t>(0xff000000u | (static_cast<std::uint32_t>((r)&0xff) << 16) | \
                              (static_cast<std::uint32_t>((g)&0xff) << 8) |                \
                              static_cast<std::uint32_t>((b)&0xff)))
#define PIX_COLOR_INDEX(i) (static_cast<std::uint64_t>((i)&0xff))
#define PIX_COLOR_DEFAULT PIX_COLOR_INDEX(0)
#endif

namespace cairn_pix {

enum : std::size_t { kMaxQwords = 64, kMaxArguments = 16, kNoLimit = ~std::size_t{0} };
enum : std::uint32_t { kMetadataV1 = 2, kMetadataV2 = 6345127 };
enum class Kind { kBegin = 1, kMarker = 2 };

// Bits of the first qword and of the qword in front of a string.
enum : unsigned {
  kTypeShiftV1 = 10,
  kTypeShiftV2 = 7,
  kContextBitV2 = 12,
  kAnsiBitV2 = 13,
  kColourShiftV2 = 16,
  kTimestampShift = 20,
  kChunkShift = 55,
  kAnsiShift = 54,
  kChunkBytes = 8
};

// Everything about an event but its format string and arguments.
struct Header {
  Header(int the_version, Kind the_kind, std::uint64_t the_colour, std::uint64_t the_timestamp)
      : version(the_version), kind(the_kind), colour(the_colour), timestamp(the_timestamp) {}
  int version;
  Kind kind;
  std::uint64_t colour;
  std::uint64_t timestamp;
  bool has_context = false;
  std::uint64_t context = 0;
};

// Writes one event, qword by qword; what does not fit is left out.
class Blob {
 public:
  // Begins the event with its format string.
  template <typename Unit>
  Blob(const Header& header, const Unit* format, bool has_arguments) {
    const bool is_ansi = sizeof(Unit) == 1;
    const std::uint64_t timestamp = header.timestamp << kTimestampShift;
    if (header.version == 2) {
      const std::uint64_t nibble = header.colour < 8 ? header.colour : 0xf;
      Put(timestamp | nibble << kColourShiftV2 | std::uint64_t{is_ansi} << kAnsiBitV2 |
          std::uint64_t{header.has_context} << kContextBitV2 |
          std::uint64_t{header.kind == Kind::kBegin ? 1u : 2u} << kTypeShiftV2);
      if (nibble == 0xf) Put(header.colour);
      if (header.has_context) Put(header.context);
      sized_ = true;
    } else {
      const std::uint64_t type = (header.kind == Kind::kBegin ? 1u : 7u) +
                                 (has_arguments ? 0u : 1u) + (header.has_context ? 0x10u : 0u);
      Put(timestamp | type << kTypeShiftV1);
      Put(header.colour);
      if (header.has_context) Put(header.context);
      Put(StringInfo(is_ansi));
    }
    Units(format, kNoLimit);
  }

  void Number(std::uint64_t bits) { Put(bits); }

  // At most `limit` units of `text` are read.
  template <typename Unit>
  void String(const Unit* text, std::size_t limit) {
    if (text == nullptr) {
      Put(0);
      return;
    }
    if (Put(StringInfo(sizeof(Unit) == 1))) Units(text, limit);
  }

  // The version 2 header says how long the event is.
  void Finish() {
    if (sized_) qwords_[0] |= count_;
  }

  const void* data() const { return qwords_; }
  std::size_t size_bytes() const { return count_ * sizeof(std::uint64_t); }

 private:
  static std::uint64_t StringInfo(bool is_ansi) {
    return std::uint64_t{kChunkBytes} << kChunkShift | std::uint64_t{is_ansi} << kAnsiShift;
  }

  // Once a value does not fit, no later value fits: a reader would take it for the missing one.
  bool Put(std::uint64_t qword) {
    if (count_ == kMaxQwords) return false;
    qwords_[count_++] = qword;
    return true;
  }

  // Collects units of 8 or 16 bits into qwords.
  struct Packer {
    std::uint64_t qword = 0;
    unsigned bits = 0;
  };
  bool Pack(Packer& packer, std::uint64_t unit, unsigned unit_bits) {
    packer.qword |= unit << packer.bits;
    packer.bits += unit_bits;
    if (packer.bits < 64) return true;
    const bool fits = Put(packer.qword);
    packer = Packer();
    return fits;
  }

  template <typename Unit>
  void Units(const Unit* text, std::size_t limit) {
    Packer packer;
    const unsigned unit_bits = sizeof(Unit) == 1 ? 8 : 16;
    for (std::size_t i = 0; i < limit && text[i] != 0; ++i) {
      if (!PackUnit(packer, text[i], std::integral_constant<std::size_t, sizeof(Unit)>())) return;
    }
    if (Pack(packer, 0, unit_bits) && packer.bits != 0) Put(packer.qword);
  }

  template <typename Unit>
  bool PackUnit(Packer& packer, Unit unit, std::integral_constant<std::size_t, 1>) {
    return Pack(packer, static_cast<unsigned char>(unit), 8);
  }
  template <typename Unit>
  bool PackUnit(Packer& packer, Unit unit, std::integral_constant<std::size_t, 2>) {
    return Pack(packer, static_cast<std::uint16_t>(unit), 16);
  }
  // wchar_t outside of Windows: the bytes of an event are UTF-16 everywhere.
  template <typename Unit>
  bool PackUnit(Packer& packer, Unit unit, std::integral_constant<std::size_t, 4>) {
    const std::uint32_t point = static_cast<std::uint32_t>(unit);
    if (point < 0x10000) return Pack(packer, point, 16);
    if (point > 0x10ffff) return Pack(packer, 0xfffd, 16);
    const std::uint32_t rest = point - 0x10000;
    return Pack(packer, 0xd800 + (rest >> 10), 16) && Pack(packer, 0xdc00 + (rest & 0x3ff), 16);
  }

  std::uint64_t qwords_[kMaxQwords];
  std::size_t count_ = 0;
  bool sized_ = false;
};

// Returns the number of units that printf would read of the string argument number `index` (from
// 0): a string that is printed with a precision need not have a terminator. values[i] is argument i
// where it is an int.
template <typename Unit>
std::size_t StringLimit(const Unit* format, std::size_t index, const std::int64_t* values) {
  std::size_t argument = 0;
  for (const Unit* at = format; *at != 0; ++at) {
    if (*at != '%') continue;
    std::size_t limit = kNoLimit;
    bool in_precision = false;
    for (++at;; ++at) {
      if (*at == '.') {
        in_precision = true;
        limit = 0;
      } else if (*at == '*') {
        if (argument >= index) return kNoLimit;
        const std::int64_t value = values[argument++];
        if (in_precision) limit = value < 0 ? kNoLimit : static_cast<std::size_t>(value);
      } else if (*at >= '0' && *at <= '9') {
        // More digits than any string has units mean no limit; they must not overflow.
        if (in_precision && limit < kMaxQwords * 8) {
          limit = limit * 10 + static_cast<std::size_t>(*at - '0');
        }
      } else if (*at != '-' && *at != '+' && *at != ' ' && *at != '#' && *at != 'h' && *at != 'l' &&
                 *at != 'w' && *at != 'L' && *at != 'j' && *at != 'z' && *at != 't' && *at != 'I') {
        break;
      }
    }
    if (*at == 0) return kNoLimit;
    if (*at == '%' || *at == 'n') continue;
    if (argument++ == index) return *at == 's' || *at == 'S' ? limit : kNoLimit;
  }
  return kNoLimit;
}

// Encodes an argument by its type.
template <typename T, typename Enable = void>
struct Argument {
  static_assert(
      sizeof(T) == 0,
      "an argument of a PIX event is a number, a character, an enumerator, a pointer or a "
      "string; this one is none of them");
};

template <typename T>
struct Argument<T, typename std::enable_if<std::is_integral<T>::value>::type> {
  // The 8-bit types that hold characters are signed, whatever this platform's char is.
  using Wide = typename std::conditional<std::is_same<T, char>::value, signed char, T>::type;
  static std::int64_t Value(T value) { return static_cast<std::int64_t>(static_cast<Wide>(value)); }
  template <typename Unit>
  static void Write(Blob& blob, T value, const Unit*, std::size_t, const std::int64_t*) {
    blob.Number(static_cast<std::uint64_t>(Value(value)));
  }
};

template <typename T>
struct Argument<T, typename std::enable_if<std::is_enum<T>::value>::type>
    : Argument<typename std::underlying_type<T>::type> {
  using Base = Argument<typename std::underlying_type<T>::type>;
  using Underlying = typename std::underlying_type<T>::type;
  static std::int64_t Value(T value) { return Base::Value(static_cast<Underlying>(value)); }
  template <typename Unit>
  static void Write(Blob& blob, T value, const Unit* format, std::size_t index,
                    const std::int64_t* values) {
    Base::Write(blob, static_cast<Underlying>(value), format, index, values);
  }
};

template <typename T>
struct Argument<T, typename std::enable_if<std::is_floating_point<T>::value>::type> {
  static std::int64_t Value(T) { return 0; }
  template <typename Unit>
  static void Write(Blob& blob, T value, const Unit*, std::size_t, const std::int64_t*) {
    const double number = static_cast<double>(value);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof(bits));
    blob.Number(bits);
  }
};

template <typename T>
struct IsText : std::integral_constant<bool, std::is_same<T, char>::value ||
                                                 std::is_same<T, wchar_t>::value ||
#if defined(__cpp_char8_t)
                                                 std::is_same<T, char8_t>::value ||
#endif
                                                 std::is_same<T, char16_t>::value> {
};

template <typename T>
struct Argument<T*,
                typename std::enable_if<IsText<typename std::remove_cv<T>::type>::value>::type> {
  static std::int64_t Value(const T*) { return 0; }
  template <typename Unit>
  static void Write(Blob& blob, const T* text, const Unit* format, std::size_t index,
                    const std::int64_t* values) {
    blob.String(text, text == nullptr ? 0 : StringLimit(format, index, values));
  }
};

template <typename T>
struct Argument<T*,
                typename std::enable_if<!IsText<typename std::remove_cv<T>::type>::value>::type> {
  static std::int64_t Value(T*) { return 0; }
  template <typename Unit>
  static void Write(Blob& blob, T* pointer, const Unit*, std::size_t, const std::int64_t*) {
    blob.Number(reinterpret_cast<std::uintptr_t>(pointer));
  }
};

template <>
struct Argument<std::nullptr_t> {
  static std::int64_t Value(std::nullptr_t) { return 0; }
  template <typename Unit>
  static void Write(Blob& blob, std::nullptr_t, const Unit*, std::size_t, const std::int64_t*) {
    blob.Number(0);
  }
};

template <typename Unit>
void WriteArguments(Blob&, const Unit*, std::size_t, const std::int64_t*) {}

template <typename Unit, typename First, typename... Rest>
void WriteArguments(Blob& blob, const Unit* format, std::size_t index, const std::int64_t* values,
                    First first, Rest... rest) {
  Argument<First>::Write(blob, first, format, index, values);
  WriteArguments(blob, format, index + 1, values, rest...);
}

// The bytes of one event, for who passes them on by other means than a context.
template <typename Unit, typename... Arguments>
Blob Encode(const Header& header, const Unit* format, Arguments... arguments) {
  static_assert(sizeof...(Arguments) <= kMaxArguments, "a PIX event has at most 16 arguments");
  // One more, since an array cannot be empty.
  const std::int64_t values[] = {Argument<Arguments>::Value(arguments)..., 0};
  Blob blob(header, format, sizeof...(Arguments) != 0);
  WriteArguments(blob, format, 0, values, arguments...);
  blob.Finish();
  return blob;
}

template <int kVersion>
struct Version {
  static_assert(kVersion == 1 || kVersion == 2, "CAIRN_PIX_BLOB_VERSION is 1 or 2");
  enum : std::uint32_t {
    kMetadata = kVersion == 2 ? std::uint32_t{kMetadataV2} : std::uint32_t{kMetadataV1}
  };
};

template <int kVersion, typename Context, typename Unit, typename... Arguments>
void BeginEvent(std::uint64_t timestamp, Context* context, std::uint64_t colour, const Unit* format,
                Arguments... arguments) {
  const Blob blob = Encode(Header(kVersion, Kind::kBegin, colour, timestamp), format, arguments...);
  context->BeginEvent(Version<kVersion>::kMetadata, blob.data(),
                      static_cast<std::uint32_t>(blob.size_bytes()));
}
template <int kVersion, typename Unit, typename... Arguments>
void BeginEvent(std::uint64_t, std::uint64_t, const Unit*, Arguments...) {}

template <int kVersion, typename Context, typename Unit, typename... Arguments>
void SetMarker(std::uint64_t timestamp, Context* context, std::uint64_t colour, const Unit* format,
               Arguments... arguments) {
  const Blob blob =
      Encode(Header(kVersion, Kind::kMarker, colour, timestamp), format, arguments...);
  context->SetMarker(Version<kVersion>::kMetadata, blob.data(),
                     static_cast<std::uint32_t>(blob.size_bytes()));
}
template <int kVersion, typename Unit, typename... Arguments>
void SetMarker(std::uint64_t, std::uint64_t, const Unit*, Arguments...) {}

template <typename Context>
void EndEvent(Context* context) {
  context->EndEvent();
}
inline void EndEvent() {}

template <typename... Arguments>
void Nothing(const Arguments&...) {}

// Ends its event when it goes out of scope.
template <typename Context>
class ScopedEvent {
 public:
  explicit ScopedEvent(Context* context) : context_(context) {}
  ScopedEvent(ScopedEvent&& other) noexcept : context_(other.context_) { other.context_ = nullptr; }
  ScopedEvent(const ScopedEvent&) = delete;
  ScopedEvent& operator=(const ScopedEvent&) = delete;
  ~ScopedEvent() {
    if (context_ != nullptr) context_->EndEvent();
  }

 private:
  Context* context_;
};

struct NoContext {
  void EndEvent() {}
};

template <int kVersion, typename Context, typename Unit, typename... Arguments>
ScopedEvent<Context> BeginScopedEvent(std::uint64_t timestamp, Context* context,
                                      std::uint64_t colour, const Unit* format,
                                      Arguments... arguments) {
  BeginEvent<kVersion>(timestamp, context, colour, format, arguments...);
  return ScopedEvent<Context>(context);
}
template <int kVersion, typename Unit, typename... Arguments>
ScopedEvent<NoContext> BeginScopedEvent(std::uint64_t, std::uint64_t, const Unit*, Arguments...) {
  return ScopedEvent<NoContext>(nullptr);
}

}  // namespace cairn_pix

#define CAIRN_PIX_BEGIN(...) \
  ::cairn_pix::BeginEvent<CAIRN_PIX_BLOB_VERSION>(CAIRN_PIX_TIMESTAMP, __VA_ARGS__)
#define CAIRN_PIX_MARK(...) \
  ::cairn_pix::SetMarker<CAIRN_PIX_BLOB_VERSION>(CAIRN_PIX_TIMESTAMP, __VA_ARGS__)
#define CAIRN_PIX_JOIN2(a, b) a##b
#define CAIRN_PIX_JOIN(a, b) CAIRN_PIX_JOIN2(a, b)
// Declares an object that nothing else names: two in one line are an error of the compiler.
#define CAIRN_PIX_SCOPED(...)                                    \
  const auto CAIRN_PIX_JOIN(cairn_pix_scoped_event_, __LINE__) = \
      ::cairn_pix::BeginScopedEvent<CAIRN_PIX_BLOB_VERSION>(CAIRN_PIX_TIMESTAMP, __VA_ARGS__)
// Evaluates nothing, but uses all variables, so that a build without PIX has no unused ones.
#define CAIRN_PIX_NOTHING(...) (false ? ::cairn_pix::Nothing(__VA_ARGS__) : static_cast<void>(0))

#if defined(CAIRN_NO_PIX)
#define PIXBeginRetailEvent(...) CAIRN_PIX_NOTHING(__VA_ARGS__)
#define PIXEndRetailEvent(...) CAIRN_PIX_NOTHING(__VA_ARGS__)
#define PIXSetRetailMarker(...) CAIRN_PIX_NOTHING(__VA_ARGS__)
#define PIXScopedRetailEvent(...) CAIRN_PIX_NOTHING(__VA_ARGS__)
#else
#define PIXBeginRetailEvent(...) CAIRN_PIX_BEGIN(__VA_ARGS__)
#define PIXEndRetailEvent(...) ::cairn_pix::EndEvent(__VA_ARGS__)
#define PIXSetRetailMarker(...) CAIRN_PIX_MARK(__VA_ARGS__)
#define PIXScopedRetailEvent(...) CAIRN_PIX_SCOPED(__VA_ARGS__)
#endif

#if defined(CAIRN_NO_PIX) || defined(USE_PIX_RETAIL)
#define PIXBeginEvent(...) CAIRN_PIX_NOTHING(__VA_ARGS__)
#define PIXEndEvent(...) CAIRN_PIX_NOTHING(__VA_ARGS__)
#define PIXSetMarker(...) CAIRN_PIX_NOTHING(__VA_ARGS__)
#define PIXScopedEvent(...) CAIRN_PIX_NOTHING(__VA_ARGS__)
#else
#define PIXBeginEvent(...) CAIRN_PIX_BEGIN(__VA_ARGS__)
#define PIXEndEvent(...) ::cairn_pix::EndEvent(__VA_ARGS__)
#define PIXSetMarker(...) CAIRN_PIX_MARK(__VA_ARGS__)
#define PIXScopedEvent(...) CAIRN_PIX_SCOPED(__VA_ARGS__)
#endif

#endif  // CAIRN_PIX_H_
