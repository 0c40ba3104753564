/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes the payloads of BeginEvent and SetMarker, for drivers (cairn/annotations.h), viewers and tools that
 * receive Metadata, pData and Size. cairn/pix.h encodes them. docs/reference/pix.md describes the bytes.
 *
 * The payload is not trusted: nothing outside of it is read, whatever lengths it contains,
 * and no text in it becomes a format for printf. Usable from C11 and C++11; links with libcairn.
 */
#ifndef CAIRN_PIX_DECODE_H_
#define CAIRN_PIX_DECODE_H_

#include <stddef.h>
#include <stdint.h>

#include "cairn/breadcrumbs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CairnPixFormat {
  CAIRN_PIX_FORMAT_UNKNOWN = 0, /* an undefined value of Metadata */
  CAIRN_PIX_FORMAT_UTF16 = 1,   /* a string, Metadata 0 */
  CAIRN_PIX_FORMAT_UTF32 =
      2, /* a string of 32-bit wchar_t, as programs on Linux pass it, Metadata 0 */
  CAIRN_PIX_FORMAT_ANSI = 3,    /* a string, Metadata 1 */
  CAIRN_PIX_FORMAT_BLOB_V1 = 4, /* Metadata 2 or 6345127; the bytes tell the versions apart */
  CAIRN_PIX_FORMAT_BLOB_V2 = 5
} CairnPixFormat;

typedef enum CairnPixKind {
  CAIRN_PIX_KIND_UNKNOWN = 0, /* the payload is a string, which has no kind */
  CAIRN_PIX_KIND_END = 1,
  CAIRN_PIX_KIND_BEGIN = 2,
  CAIRN_PIX_KIND_MARKER = 3
} CairnPixKind;

typedef enum CairnPixColourKind {
  CAIRN_PIX_COLOUR_NONE = 0,
  CAIRN_PIX_COLOUR_ARGB = 1,   /* colour is 0xAARRGGBB */
  CAIRN_PIX_COLOUR_PALETTE = 2 /* colour is an index into the viewer's palette, 0 to 7 */
} CairnPixColourKind;

/* The type of an argument, as the format string's conversion for it gives it: the bytes hold no types. */
typedef enum CairnPixArgumentType {
  CAIRN_PIX_ARGUMENT_RAW = 0, /* no conversion uses it */
  CAIRN_PIX_ARGUMENT_SIGNED = 1,
  CAIRN_PIX_ARGUMENT_UNSIGNED = 2,
  CAIRN_PIX_ARGUMENT_FLOAT = 3, /* bits are those of a double */
  CAIRN_PIX_ARGUMENT_CHARACTER = 4,
  CAIRN_PIX_ARGUMENT_POINTER = 5,
  CAIRN_PIX_ARGUMENT_STRING = 6, /* its text stands in CairnPixEvent::text */
  CAIRN_PIX_ARGUMENT_NULL_STRING = 7
} CairnPixArgumentType;

#define CAIRN_PIX_MAX_ARGUMENTS 16u
#define CAIRN_PIX_TEXT_BYTES 4096u /* texts are cut there, between two characters */

/* Plain data, owns nothing. Texts are UTF-8 and zero-terminated; they may hold control characters.
 * Bytes that are invalid in the text's encoding become U+FFFD. */
typedef struct CairnPixEvent {
  uint32_t struct_size; /* in bytes, set by the caller: sizeof(CairnPixEvent) */
  CairnPixFormat format;
  CairnPixKind kind;
  CairnPixColourKind colour_kind;
  uint32_t colour;
  uint32_t has_context; /* 1: `context` is the pointer that the program passed */
  uint64_t context;
  uint64_t timestamp; /* the low 44 bits of a tick count of the program's choice; 0: none */
  /* 0: the bytes end before the event does, or contradict the format; `problem` says how, and the rest
   * is what could be decoded. */
  uint32_t complete;
  uint32_t argument_count; /* at most CAIRN_PIX_MAX_ARGUMENTS */
  CairnPixArgumentType argument_types[CAIRN_PIX_MAX_ARGUMENTS];
  uint64_t argument_bits[CAIRN_PIX_MAX_ARGUMENTS]; /* of strings the qword that describes them */
  char name[CAIRN_PIX_TEXT_BYTES + 1];             /* the format string, or the string */
  char text[CAIRN_PIX_TEXT_BYTES + 1];             /* `name` with the arguments in it */
  char problem[256];
} CairnPixEvent;

/* Decodes `available_bytes` bytes at `data`, the beginning of a payload of which the program passed
 * `size_bytes`; they differ where a payload was cut. `data` may be NULL if `available_bytes` is 0.
 * Bytes that are no event are no error: `complete` is 0 and `format` may be CAIRN_PIX_FORMAT_UNKNOWN,
 * whose text is the bytes in hex.
 * CAIRN_ERROR_INVALID_ARGUMENT: `event` is NULL or its struct_size is wrong, `data` is NULL though
 * available_bytes is not 0, or available_bytes is more than size_bytes. CAIRN_ERROR_OUT_OF_MEMORY.
 * `event` is filled in on success alone. Threads: any. Nothing is kept. It allocates: not for signal
 * handlers. Cost: BM_DecodePixEvent of pix_bench, and copying the struct. Source: the PIX event formats, as
 * docs/reference/pix.md describes them. */
CAIRN_API CairnResult cairnDecodePixEvent(uint32_t metadata, const void* data,
                                          size_t available_bytes, uint64_t size_bytes,
                                          CairnPixEvent* event);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_PIX_DECODE_H_ */
