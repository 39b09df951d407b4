// An op of one's own, with a kernel for CPUs: y = x³. Two op types share it: they differ in Python only, where a gradient
// is registered for the one and not for the other. The kernel for GPUs is in skip_cube.cu.cc.
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

#ifdef WITH_CUDA
#include "xla/stream_executor/stream.h"

// The error of CUDA, or null.
template <typename T>
const char* LaunchCube(const T* in, T* out, int64_t size, void* stream);
#endif

namespace {

using tensorflow::DEVICE_CPU;
using tensorflow::DEVICE_GPU;
using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

template <typename T>
class CubeOp : public OpKernel {
 public:
  explicit CubeOp(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, input.shape(), &output));
    Fill(context, input.flat<T>().data(), output->flat<T>().data(), input.NumElements());
  }

 private:
  virtual void Fill(OpKernelContext* context, const T* in, T* out, int64_t size) {
    for (int64_t i = 0; i < size; ++i) out[i] = in[i] * in[i] * in[i];
  }
};

#ifdef WITH_CUDA
template <typename T>
class GpuCubeOp : public CubeOp<T> {
 public:
  using CubeOp<T>::CubeOp;

 private:
  void Fill(OpKernelContext* context, const T* in, T* out, int64_t size) override {
    void* stream = context->op_device_context()->stream()->platform_specific_handle().stream;
    const char* error = LaunchCube(in, out, size, stream);
    OP_REQUIRES(context, error == nullptr, absl::InternalError(error == nullptr ? "" : error));
  }
};
#define REGISTER_GPU(op, type) \
  REGISTER_KERNEL_BUILDER(Name(op).Device(DEVICE_GPU).TypeConstraint<type>("T"), GpuCubeOp<type>)
#else
#define REGISTER_GPU(op, type)
#endif

#define REGISTER_CUBE(op)                                                                           \
  REGISTER_OP(op).Input("x: T").Output("y: T").Attr("T: {float, double}").SetShapeFn(               \
      tensorflow::shape_inference::UnchangedShape);                                                 \
  REGISTER_KERNEL_BUILDER(Name(op).Device(DEVICE_CPU).TypeConstraint<float>("T"), CubeOp<float>);   \
  REGISTER_KERNEL_BUILDER(Name(op).Device(DEVICE_CPU).TypeConstraint<double>("T"), CubeOp<double>); \
  REGISTER_GPU(op, float);                                                                          \
  REGISTER_GPU(op, double)

REGISTER_CUBE("SkipCube");
REGISTER_CUBE("CubeWithoutGradient");

}  // namespace
