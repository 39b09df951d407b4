// The forward pass of the overridden ops, each as an op with a name of its own: Python registers any gradient under it.
// Kernels for CPUs, in float32.
#include <cmath>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace {

using tensorflow::DEVICE_CPU;
using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::shape_inference::UnchangedShape;

// An op whose output has the shape of its first input. `element(context, i)` is an element of the output.
template <float (*element)(OpKernelContext*, int64_t)>
class Elementwise : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, context->input(0).shape(), &output));
    auto y = output->flat<float>();
    for (int64_t i = 0; i < y.size() && context->status().ok(); ++i) y(i) = element(context, i);
  }
};

float At(OpKernelContext* context, int input, int64_t i) { return context->input(input).flat<float>()(i); }

float Floor(OpKernelContext* c, int64_t i) { return std::floor(At(c, 0, i)); }

float Identity(OpKernelContext* c, int64_t i) { return At(c, 0, i); }

float Sign(OpKernelContext* c, int64_t i) { return (At(c, 0, i) > 0) - (At(c, 0, i) < 0); }

float Select(OpKernelContext* c, int64_t i) { return At(c, c->input(2).flat<bool>()(i) ? 0 : 1, i); }

float Cond(OpKernelContext* c, int64_t i) {
  return c->input(2).scalar<bool>()() ? 2 * At(c, 0, i) : 3 * At(c, 1, i);
}

float Gather(OpKernelContext* c, int64_t i) {
  const int index = c->input(1).flat<int>()(i), size = c->input(0).NumElements();
  if (index >= 0 && index < size) return At(c, 0, index);
  c->SetStatus(absl::InvalidArgumentError(absl::StrCat("indices[", i, "] = ", index, " is not in [0, ", size, ")")));
  return 0;
}

#define REGISTER(name, ...)                                                                         \
  REGISTER_OP("Overridden" #name) __VA_ARGS__.Output("result: float").SetShapeFn(UnchangedShape); \
  REGISTER_KERNEL_BUILDER(Name("Overridden" #name).Device(DEVICE_CPU), Elementwise<name>)

REGISTER(Cond, .Input("x: float").Input("y: float").Input("p: bool"));
REGISTER(Floor, .Input("x: float"));
REGISTER(Gather, .Input("x: float").Input("i: int32"));
REGISTER(Identity, .Input("x: float"));
REGISTER(Select, .Input("x: float").Input("y: float").Input("c: bool"));
REGISTER(Sign, .Input("x: float"));

}  // namespace
