# SPDX-License-Identifier: Apache-2.0
target_sources(cairn_command PRIVATE trim.cc)
