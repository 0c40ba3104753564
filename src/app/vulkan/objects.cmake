# SPDX-License-Identifier: Apache-2.0
target_sources(cairn_vulkan PRIVATE
  access_calls.cc access_ranges.cc address_binding.cc addresses.cc buffer_binds.cc checkpoints.cc descriptor_calls.cc descriptor_layouts.cc device_loss.cc host_memory.cc module_source.cc module_stage.cc
  device_objects.cc faults.cc fences.cc memory_budget.cc memory_users.cc set_contents.cc object_names.cc
  object_names_calls.cc pipelines.cc queue_labels.cc shaders.cc chain_copy.cc shader_experiment_calls.cc shader_experiment.cc shader_experiment_request.cc recorded_experiment.cc serial_queues.cc submissions.cc
  synchronisation.cc)

cairn_test(vulkan_objects_test
  SOURCES device_loss_test.cc object_names_test.cc pipelines_test.cc submissions_test.cc
  DEPS cairn_vulkan THREADS)
cairn_test(vulkan_serial_queues_test SOURCES serial_queues_test.cc DEPS cairn_vulkan THREADS)
