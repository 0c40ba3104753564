// SPDX-License-Identifier: Apache-2.0
//
// Wrappers of device children that need no more than the generated methods, and the state that most
// others share with them.
#ifndef CAIRN_APP_D3D12_DEVICE_CHILD_H_
#define CAIRN_APP_D3D12_DEVICE_CHILD_H_

#include "app/annotations/runtime.h"
#include "app/d3d12/device.h"
#include "app/d3d12/globals.h"
#include "app/d3d12/object_kind.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// A generated class with what annotations keep of every child: its mode is that of this moment.
template <typename Thin>
class AnnotatedObject : public Thin {
 protected:
  AnnotatedObject(WrappedID3D12Device& device, void* real)
      : Thin(real), annotations_(device.annotations(), ObjectKindOf(NameOf(this->chain())), real) {}

  AnnotatedChild* annotated() final { return &annotations_; }

 private:
  AnnotatedChild annotations_;
};

template <typename Thin>
class PlainChild final : public AnnotatedObject<Thin> {
 public:
  PlainChild(WrappedID3D12Device& device, void* real) : AnnotatedObject<Thin>(device, real) {
    this->Join(device);
  }
};

// A further interface of an object.
template <typename Thin>
class PlainTearOff final : public Thin {
 public:
  PlainTearOff(void* real, Wrapper& owner) : Thin(real, &owner) {
    // A list's further interfaces record work, too.
    this->breadcrumbs_ = owner.breadcrumbs();
  }
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_DEVICE_CHILD_H_
