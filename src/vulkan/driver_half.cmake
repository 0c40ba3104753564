# SPDX-License-Identifier: Apache-2.0
target_sources(cairn_vulkan PRIVATE driver_half.cc)
