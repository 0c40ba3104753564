# SPDX-License-Identifier: Apache-2.0
# Plays traces. What calls Direct3D 12 is compiled once for each calling convention.
include(${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake)
cairn_library(cairn_replay_model SOURCES fence_model.cc play_log.cc root_signature.cc structure_map.cc unfinished_work.cc unrepeatable.cc
  DEPS cairn_d3d12tables cairn_base fmt::fmt)
# Loads implementations, and says what devices are; sees no declaration of Direct3D.
set(describe device_linux.cc)
if(WIN32)
  set(describe device_windows.cc)
endif()
cairn_library(cairn_replay_device SOURCES adapter_choice.cc device.cc ${describe} DEPS cairn_adapters cairn_os cairn_base fmt::fmt)
# Enumerators come from the trace and go on to the implementation as they are: newer headers know more of
# them than these, and a sanitizer that knows only these must not judge.
if(CAIRN_SANITIZE)
  file(GLOB player_tests CONFIGURE_DEPENDS player*_test.cc player_fuzz.cc)
  set_source_files_properties(${player_tests} PROPERTIES COMPILE_OPTIONS -fno-sanitize=enum)
endif()
foreach(abi "" ${CAIRN_D3D12_ABIS})
  cairn_library(cairn_player${abi}
    SOURCES canary.cc creation_facts.cc descriptor_views.cc device_check.cc list_bindings.cc memory_player.cc
      memory_player_reads.cc null_checks.cc own_memory.cc own_structures.cc player_addresses.cc player_calls.cc player_checks.cc player_devices.cc player_frames.cc
      player_impl.cc player_imports.cc player_meta_commands.cc player_moves.cc player_programs.cc player_tiles.cc replay_devices.cc
      replay_objects.cc replay_programs.cc replay_regions.cc replay_values.cc structure_player.cc wait_engine.cc
      work_graph_memory.cc
    DEPS cairn_replay_model cairn_replay_device cairn_image_file cairn_buffer_addresses cairn_d3d12_readback${abi}
         cairn_d3d12_states cairn_trace cairn_calls cairn_pix cairn_os cairn_base
      cairn_d3d12abi${abi} cairn_d3d12invoke${abi} fmt::fmt)
  target_link_libraries(cairn_player${abi} PRIVATE PkgConfig::XXHASH)
  cairn_takes_any_enumerator(cairn_player${abi})
  cairn_embed_files(cairn_player${abi} FILES shaders/canary.cs.dxbc)
endforeach()
# Chooses between the two; sees no declaration of Direct3D.
cairn_library(cairn_player_any SOURCES player.cc DEPS cairn_replay_device cairn_trace cairn_base)
foreach(abi "" ${CAIRN_D3D12_ABIS})
  target_link_libraries(cairn_player_any PUBLIC $<LINK_ONLY:cairn_player${abi}>)
endforeach()

cairn_bench(player_bench SOURCES player_bench.cc DEPS cairn_player_any)
cairn_test(adapter_choice_test SOURCES adapter_choice_test.cc DEPS cairn_replay_device)
cairn_test(fence_model_test SOURCES fence_model_test.cc play_cost_test.cc play_log_test.cc recent_values_test.cc structure_map_test.cc unfinished_work_test.cc unrepeatable_test.cc wait_time_test.cc
  DEPS cairn_replay_model)
if(BUILD_TESTING)
  # Parts of the player, each on its own.
  cairn_test(player_parts_test SOURCES creation_facts_test.cc descriptor_views_test.cc list_bindings_test.cc memory_player_test.cc null_checks_test.cc own_memory_test.cc
      replay_devices_test.cc replay_programs_test.cc structure_player_test.cc wait_engine_test.cc work_graph_memory_test.cc
    DEPS cairn_player cairn_calls cairn_trace cairn_d3d12_fake cairn_d3d12abi PkgConfig::XXHASH)
  cairn_test(player_test SOURCES device_check_test.cc player_addresses_test.cc player_effects_test.cc player_imports_test.cc player_placed_test.cc
      player_structure_memory_test.cc player_structures_test.cc player_test.cc
    DEPS cairn_player_any cairn_calls cairn_trace cairn_d3d12_fake cairn_d3d12abi PkgConfig::XXHASH)
  cairn_test(player_hostile_test
    SOURCES player_hostile_copies_test.cc player_hostile_lists_test.cc player_hostile_test.cc
      player_hostile_values_test.cc player_hostile_views_test.cc
    DEPS cairn_player_any cairn_calls cairn_trace cairn_d3d12_fake cairn_d3d12abi PkgConfig::XXHASH)
  foreach(abi "" ${CAIRN_D3D12_ABIS})
    cairn_test(player_convention${abi}_test SOURCES player_convention_test.cc player_programs_test.cc
      DEPS cairn_player_any cairn_calls cairn_trace cairn_d3d12_fake${abi} cairn_d3d12abi${abi} PkgConfig::XXHASH)
  endforeach()
  cairn_test(player_gpu_test SOURCES player_gpu_test.cc
    DEPS cairn_player_any cairn_calls cairn_trace cairn_d3d12abi cairn_d3d12_system PkgConfig::XXHASH GPU)
  # As `cairn` starts itself again where libvkd3d wants an executable stack (os/executable_stack.h).
  set_tests_properties(player_gpu_test PROPERTIES ENVIRONMENT GLIBC_TUNABLES=glibc.rtld.execstack=2)
  cairn_fuzzer(player_fuzz SOURCES player_fuzz.cc DEPS cairn_player_any cairn_trace cairn_d3d12_fake cairn_d3d12abi)
endif()
