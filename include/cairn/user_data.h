/* SPDX-License-Identifier: Apache-2.0
 *
 * User data: bytes of the program that its reports keep, such as the name of the level, the settings, or the end of
 * its log. Crash reporters call them annotations and attachments.
 *
 *   cairnSetUserData("level", "e1m1", 4);
 *   cairnSetUserData("settings.json", text, strlen(text));
 *
 * They lie in the memory that the process shares with its watcher, so that a report has them however the process
 * ends. `cairn report` lists them, and `cairn report --extract` writes them into files.
 * See docs/reference/user-data.md.
 */
#ifndef CAIRN_USER_DATA_H_
#define CAIRN_USER_DATA_H_

#include <stddef.h>

#include "cairn/breadcrumbs.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_USER_DATA_MAX_ENTRIES 64u
#define CAIRN_USER_DATA_MAX_KEY_BYTES 63u
#define CAIRN_USER_DATA_MAX_BYTES 2097152u /* of all entries together: 2 MiB */

/* Keeps a copy of the bytes under this key. An entry with the same key is replaced: a report that is taken meanwhile,
 * or after a crash in the middle of this call, has the old bytes or the new ones, and never a mixture.
 * `key`: UTF-8, 1 to CAIRN_USER_DATA_MAX_KEY_BYTES bytes; it becomes part of a file's name, so prefer letters, digits,
 * '.', '-' and '_'. `data` may be NULL if `size_bytes` is 0. Both stay the caller's.
 * CAIRN_ERROR_INVALID_ARGUMENT: the key or `data` is not valid, or `size_bytes` exceeds CAIRN_USER_DATA_MAX_BYTES.
 * CAIRN_ERROR_OUT_OF_MEMORY: there are CAIRN_USER_DATA_MAX_ENTRIES other keys, all entries together would exceed
 * CAIRN_USER_DATA_MAX_BYTES, or the shared memory is full. After an error the entry is what it was.
 * CAIRN_ERROR_OPERATING_SYSTEM, CAIRN_ERROR_EXTENSION_NOT_SUPPORTED (no file may be so large): the shared memory cannot
 * be made. The first call makes it if no context has, with the
 * default size of CairnContextDesc::block_size_bytes, which contexts made later do not change.
 * Threads: any; one lock. Not for signal handlers. Cost: a first call that makes the shared memory also connects to the
 * watcher; from then on a copy of the bytes (bench SetUserData). Programs that never call it have none. */
CAIRN_API CairnResult cairnSetUserData(const char* key, const void* data, size_t size_bytes);

/* Removes the entry; CAIRN_OK also if there is none. Makes no shared memory.
 * CAIRN_ERROR_INVALID_ARGUMENT: the key is not valid. */
CAIRN_API CairnResult cairnRemoveUserData(const char* key);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_USER_DATA_H_ */
