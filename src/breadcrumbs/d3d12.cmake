# SPDX-License-Identifier: Apache-2.0
# The Direct3D 12 backend and its self-test, against the COM interfaces only. Headers of Vulkan serve
# to name the device below libvkd3d.
cairn_library(cairn_breadcrumbs_d3d12
  SOURCES d3d12_backend.cc d3d12_buffers.cc d3d12_drain.cc d3d12_module_linux.cc d3d12_run_tables.cc
          d3d12_selftest.cc d3d12_submitter.cc d3d12_value_pool.cc
  DEPS cairn_recorder cairn_d3d12abi fmt::fmt ${CMAKE_DL_LIBS})

# For `cairn selftest`, the tests and the benchmarks: devices of our own. libvkd3d is loaded, not linked.
cairn_library(cairn_d3d12_probe
  SOURCES d3d12_devices_linux.cc d3d12_probe.cc
  DEPS cairn_breadcrumbs_d3d12 ${CMAKE_DL_LIBS})
target_include_directories(cairn_d3d12_probe SYSTEM PRIVATE
  $<TARGET_PROPERTY:PkgConfig::VKD3D_UTILS,INTERFACE_INCLUDE_DIRECTORIES>)
