/* SPDX-License-Identifier: Apache-2.0
 *
 * Types of the work that a marker surrounds. Reports name the work by its type and number it among the work of
 * that type in the same scope: DRAW_INDEXED #1, DRAW_INDEXED #2. The type has no other effect. Values are stored
 * in .cairn files and never change; new ones are added at the end.
 *
 * Source: methods of ID3D12GraphicsCommandList to ...List9, D3D12_AUTO_BREADCRUMB_OP, and the
 * vkCmd* functions of Vulkan 1.3 with the extensions named; methods of ID3D11DeviceContext.
 */
#ifndef CAIRN_MARKER_TYPES_H_
#define CAIRN_MARKER_TYPES_H_

/* CAIRN_MARKER_TYPES(X) calls X(NAME, value) for every type. */
/* clang-format off */
#define CAIRN_MARKER_TYPES(X)                                                                      \
  /* A named scope of any work; the only type that must have a name. */                            \
  X(PASS, 0)                                                                                       \
  /* Direct3D 12 */                                                                                \
  X(BEGIN_EVENT, 1)                                                                                \
  X(BEGIN_QUERY, 2)                                                                                \
  X(CLEAR_DEPTH_STENCIL, 3)                                                                        \
  X(CLEAR_RENDER_TARGET, 4)                                                                        \
  X(CLEAR_STATE, 5)                                                                                \
  X(CLEAR_UNORDERED_ACCESS_FLOAT, 6)                                                               \
  X(CLEAR_UNORDERED_ACCESS_UINT, 7)                                                                \
  X(CLOSE, 8)                                                                                      \
  X(COPY_BUFFER_REGION, 9)                                                                         \
  X(COPY_RESOURCE, 10)                                                                             \
  X(COPY_TEXTURE_REGION, 11)                                                                       \
  X(COPY_TILES, 12)                                                                                \
  X(DISCARD_RESOURCE, 13)                                                                          \
  X(DISPATCH, 14)                                                                                  \
  X(DRAW_INDEXED_INSTANCED, 15)                                                                    \
  X(DRAW_INSTANCED, 16)                                                                            \
  X(END_EVENT, 17)                                                                                 \
  X(END_QUERY, 18)                                                                                 \
  X(EXECUTE_BUNDLE, 19)                                                                            \
  X(EXECUTE_INDIRECT, 20)                                                                          \
  X(RESET, 21)                                                                                     \
  X(RESOLVE_QUERY_DATA, 22)                                                                        \
  X(RESOLVE_SUBRESOURCE, 23)                                                                       \
  X(RESOURCE_BARRIER, 24)                                                                          \
  X(SET_COMPUTE_ROOT_SIGNATURE, 25)                                                                \
  X(SET_DESCRIPTORS_HEAP, 26)                                                                      \
  X(SET_GRAPHICS_ROOT_SIGNATURE, 27)                                                               \
  X(SET_PIPELINE_STATE, 28)                                                                        \
  X(SET_PREDICATION, 29)                                                                           \
  X(ATOMIC_COPY_BUFFER_UINT, 30)                                                                   \
  X(ATOMIC_COPY_BUFFER_UINT64, 31)                                                                 \
  X(RESOLVE_SUBRESOURCE_REGION, 32)                                                                \
  X(SET_SAMPLE_POSITION, 33)                                                                       \
  X(SET_VIEW_INSTANCE_MASK, 34)                                                                    \
  X(WRITE_BUFFER_IMMEDIATE, 35)                                                                    \
  X(SET_PROTECTED_RESOURCE_SESSION, 36)                                                            \
  X(BEGIN_RENDER_PASS, 37)                                                                         \
  X(BUILD_RAY_TRACING_ACCELERATION_STRUCTURE, 38)                                                  \
  X(COPY_RAY_TRACING_ACCELERATION_STRUCTURE, 39)                                                   \
  X(DISPATCH_RAYS, 40)                                                                             \
  X(EMIT_RAY_TRACING_ACCELERATION_STRUCTURE_POST_BUILD_INFO, 41)                                   \
  X(END_RENDER_PASS, 42)                                                                           \
  X(EXECUTE_META_COMMAND, 43)                                                                      \
  X(INITIALIZE_META_COMMAND, 44)                                                                   \
  X(SET_RAY_TRACING_STATE, 45)                                                                     \
  X(SET_SHADING_RATE, 46)                                                                          \
  X(SET_SHADING_RATE_IMAGE, 47)                                                                    \
  X(BARRIER, 48)                                                                                   \
  X(DISPATCH_MESH, 49)                                                                             \
  X(DISPATCH_GRAPH, 50)                                                                            \
  X(SET_PROGRAM, 51)                                                                               \
  X(SET_MARKER, 52)                                                                                \
  X(DECODE_FRAME, 53)                                                                              \
  X(PROCESS_FRAMES, 54)                                                                            \
  X(ENCODE_FRAME, 55)                                                                              \
  X(ESTIMATE_MOTION, 56)                                                                           \
  X(PRESENT, 57)                                                                                   \
  /* Vulkan */                                                                                     \
  X(BEGIN_CONDITIONAL_RENDERING, 64)                                                               \
  X(BEGIN_DEBUG_UTILS_LABEL, 65)                                                                   \
  X(BEGIN_RENDERING, 66)                                                                           \
  X(BEGIN_TRANSFORM_FEEDBACK, 67)                                                                  \
  X(BIND_PIPELINE, 68)                                                                             \
  X(BLIT_IMAGE, 69)                                                                                \
  X(CLEAR_ATTACHMENTS, 70)                                                                         \
  X(CLEAR_COLOR_IMAGE, 71)                                                                         \
  X(CLEAR_DEPTH_STENCIL_IMAGE, 72)                                                                 \
  X(COPY_BUFFER, 73)                                                                               \
  X(COPY_BUFFER_TO_IMAGE, 74)                                                                      \
  X(COPY_IMAGE, 75)                                                                                \
  X(COPY_IMAGE_TO_BUFFER, 76)                                                                      \
  X(COPY_QUERY_POOL_RESULTS, 77)                                                                   \
  X(DISPATCH_BASE, 78)                                                                             \
  X(DISPATCH_INDIRECT, 79)                                                                         \
  X(DRAW, 80)                                                                                      \
  X(DRAW_INDEXED, 81)                                                                              \
  X(DRAW_INDEXED_INDIRECT, 82)                                                                     \
  X(DRAW_INDEXED_INDIRECT_COUNT, 83)                                                               \
  X(DRAW_INDIRECT, 84)                                                                             \
  X(DRAW_INDIRECT_BYTE_COUNT, 85)                                                                  \
  X(DRAW_INDIRECT_COUNT, 86)                                                                       \
  X(DRAW_MESH_TASKS, 87)                                                                           \
  X(DRAW_MESH_TASKS_INDIRECT, 88)                                                                  \
  X(DRAW_MESH_TASKS_INDIRECT_COUNT, 89)                                                            \
  X(DRAW_MULTI, 90)                                                                                \
  X(DRAW_MULTI_INDEXED, 91)                                                                        \
  X(END_CONDITIONAL_RENDERING, 92)                                                                 \
  X(END_DEBUG_UTILS_LABEL, 93)                                                                     \
  X(END_RENDERING, 94)                                                                             \
  X(END_TRANSFORM_FEEDBACK, 95)                                                                    \
  X(EXECUTE_COMMANDS, 96)                                                                          \
  X(EXECUTE_GENERATED_COMMANDS, 97)                                                                \
  X(FILL_BUFFER, 98)                                                                               \
  X(INSERT_DEBUG_UTILS_LABEL, 99)                                                                  \
  X(NEXT_SUBPASS, 100)                                                                             \
  X(PIPELINE_BARRIER, 101)                                                                         \
  X(RESET_EVENT, 102)                                                                              \
  X(RESET_QUERY_POOL, 103)                                                                         \
  X(RESOLVE_IMAGE, 104)                                                                            \
  X(SET_EVENT, 105)                                                                                \
  X(TRACE_RAYS, 106)                                                                               \
  X(TRACE_RAYS_INDIRECT, 107)                                                                      \
  X(UPDATE_BUFFER, 108)                                                                            \
  X(WAIT_EVENTS, 109)                                                                              \
  X(WRITE_TIMESTAMP, 110)                                                                          \
  X(BUILD_ACCELERATION_STRUCTURES, 111)                                                            \
  X(BUILD_ACCELERATION_STRUCTURES_INDIRECT, 112)                                                   \
  X(COPY_ACCELERATION_STRUCTURE, 113)                                                              \
  X(COPY_ACCELERATION_STRUCTURE_TO_MEMORY, 114)                                                    \
  X(COPY_MEMORY_TO_ACCELERATION_STRUCTURE, 115)                                                    \
  X(WRITE_ACCELERATION_STRUCTURES_PROPERTIES, 116)                                                 \
  X(BUILD_MICROMAPS, 117)                                                                          \
  X(SUBPASS_SHADING, 118)                                                                          \
  X(DECODE_VIDEO, 119)                                                                             \
  X(ENCODE_VIDEO, 120)                                                                             \
  X(OPTICAL_FLOW_EXECUTE, 121)                                                                     \
  X(BIND_SHADERS, 122)                                                                             \
  X(CU_LAUNCH_KERNEL, 123)                                                                         \
  X(BIND_DESCRIPTOR_SETS, 124)                                                                     \
  X(RESERVE_SPACE_FOR_COMMANDS, 125)                                                               \
  X(SET_CHECKPOINT, 126)                                                                           \
  X(SET_PERFORMANCE_MARKER, 127)                                                                   \
  X(SET_PERFORMANCE_OVERRIDE, 128)                                                                 \
  X(SET_PERFORMANCE_STREAM_MARKER, 129)                                                            \
  X(SET_VIEWPORT_SHADING_RATE_PALETTE, 130)                                                        \
  X(WRITE_BUFFER_MARKER, 131)                                                                      \
  X(COPY_MEMORY_INDIRECT, 132)                                                                     \
  X(COPY_MEMORY_TO_IMAGE_INDIRECT, 133)                                                            \
  X(DECOMPRESS_MEMORY, 134)                                                                        \
  X(DRAW_CLUSTER, 135)                                                                             \
  X(DRAW_CLUSTER_INDIRECT, 136)                                                                    \
  X(COPY_MICROMAP, 137)                                                                            \
  X(COPY_MICROMAP_TO_MEMORY, 138)                                                                  \
  X(COPY_MEMORY_TO_MICROMAP, 139)                                                                  \
  X(WRITE_MICROMAPS_PROPERTIES, 140)                                                               \
  X(PREPROCESS_GENERATED_COMMANDS, 141)                                                            \
  X(BEGIN_VIDEO_CODING, 142)                                                                       \
  X(CONTROL_VIDEO_CODING, 143)                                                                     \
  X(END_VIDEO_CODING, 144)                                                                         \
  /* A command that this version of Cairn has no name for. */                                      \
  X(OTHER_WORK, 145)                                                                               \
  /* Direct3D 11 */                                                                                \
  X(DRAW_AUTO, 146)                                                                                \
  X(COPY_SUBRESOURCE_REGION, 147)                                                                  \
  X(UPDATE_SUBRESOURCE, 148)                                                                       \
  X(COPY_STRUCTURE_COUNT, 149)                                                                     \
  X(CLEAR_VIEW, 150)                                                                               \
  X(GENERATE_MIPS, 151)                                                                            \
  X(UPDATE_TILES, 152)                                                                             \
  X(EXECUTE_COMMAND_LIST, 153)

typedef enum CairnMarkerType {
#define CAIRN_MARKER_TYPE_ENUMERATOR(name, value) CAIRN_MARKER_##name = value,
  CAIRN_MARKER_TYPES(CAIRN_MARKER_TYPE_ENUMERATOR)
#undef CAIRN_MARKER_TYPE_ENUMERATOR
  CAIRN_MARKER_TYPE_LIMIT = 1024 /* every value, also of later versions, is smaller */
} CairnMarkerType;
/* clang-format on */

#endif /* CAIRN_MARKER_TYPES_H_ */
