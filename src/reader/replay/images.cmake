# SPDX-License-Identifier: Apache-2.0
# Pictures, and addresses that lie in buffers: neither knows a device.
cairn_library(cairn_image_file SOURCES image_file.cc
  DEPS cairn_image_formats cairn_d3d12tables cairn_os cairn_base fmt::fmt PNG::PNG PkgConfig::XXHASH)
cairn_test(image_file_test SOURCES image_file_test.cc DEPS cairn_image_file)
cairn_library(cairn_buffer_addresses SOURCES buffer_addresses.cc buffer_addresses_words.cc
  DEPS cairn_d3d12abi cairn_base fmt::fmt)
cairn_test(buffer_addresses_test SOURCES buffer_addresses_test.cc buffer_addresses_parts_test.cc
           DEPS cairn_buffer_addresses)
cairn_fuzzer(buffer_addresses_fuzz SOURCES buffer_addresses_fuzz.cc DEPS cairn_buffer_addresses)
cairn_bench(buffer_addresses_bench SOURCES buffer_addresses_bench.cc DEPS cairn_buffer_addresses)
