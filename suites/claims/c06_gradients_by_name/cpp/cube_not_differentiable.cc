// An op of one's own, y = x³, that Python declares not differentiable: a name is declared once in a process, so it is
// no op of another library.
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace {

template <typename T>
class CubeOp : public tensorflow::OpKernel {
 public:
  explicit CubeOp(tensorflow::OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, input.shape(), &output));
    const T* in = input.flat<T>().data();
    T* out = output->flat<T>().data();
    for (int64_t i = 0; i < input.NumElements(); ++i) out[i] = in[i] * in[i] * in[i];
  }
};

#define REGISTER_CUBE(type)                                                                       \
  REGISTER_KERNEL_BUILDER(                                                                        \
      Name("CubeNotDifferentiable").Device(tensorflow::DEVICE_CPU).TypeConstraint<type>("T"), CubeOp<type>)

REGISTER_OP("CubeNotDifferentiable")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {float, double}")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);
REGISTER_CUBE(float);
REGISTER_CUBE(double);

}  // namespace
