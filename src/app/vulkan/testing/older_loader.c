// SPDX-License-Identifier: Apache-2.0
//
// Stands for a loader before 1.3.204: a library with functions of Vulkan, none of them of 1.3, that is the end of the
// layers' chain. The test gives it the system's look-up, to which it hands on.
#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

typedef void (*Function)(void);
typedef Function (*LookUp)(void* instance, const char* name);

static LookUp system_loader = 0;

EXPORTED void SetSystemLoader(LookUp loader) {
  system_loader = loader;
}

EXPORTED void vkCreateInstance(void) {}

EXPORTED Function vkGetInstanceProcAddr(void* instance, const char* name) {
  return system_loader(instance, name);
}
