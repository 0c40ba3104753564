# SPDX-License-Identifier: Apache-2.0
target_sources(cairn_vulkan PRIVATE device_objects.cc)
