// Loaded before TensorFlow's libraries: alters the first output of one CPU kernel, on one device. See planted_kernel.py.
#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "tensorflow/core/framework/op_kernel.h"

#define COMPUTE "_ZN10tensorflow16ThreadPoolDevice7ComputeEPNS_8OpKernelEPNS_15OpKernelContextE"

// tensorflow::ThreadPoolDevice::Compute, which runs every kernel of a CPU; this definition takes its place.
extern "C" void compute(void* device, tensorflow::OpKernel* op, tensorflow::OpKernelContext* context) __asm__(COMPUTE);

namespace {

// The file PLANTED_KERNEL has one line, "TYPE SHAPE FAULT", such as "Conv2D 2x8x8x64 scale"; "-" is the shape of a
// scalar.
struct Fault {
  std::string type, shape, kind, device = "CPU:1";
  Fault() { std::ifstream(std::getenv("PLANTED_KERNEL") ?: "") >> type >> shape >> kind; }
};

// The op type of a kernel; oneDNN's kernels have a prefix.
std::string type_of(tensorflow::OpKernel* op) {
  std::string type(op->type_string_view());
  for (const char* prefix : {"_MklNative", "_Mkl"})
    if (type.rfind(prefix, 0) == 0) return type.substr(std::strlen(prefix));
  return type;
}

std::string shape_of(const tensorflow::Tensor& tensor) {
  std::string shape;
  for (int n = 0; n < tensor.dims(); ++n) shape += (n ? "x" : "") + std::to_string(tensor.dim_size(n));
  return shape.empty() ? "-" : shape;
}

void alter(float* data, int64_t size, const std::string& kind) {
  int64_t largest = 0;
  for (int64_t n = 0; n < size; ++n)
    if (std::fabs(data[n]) > std::fabs(data[largest])) largest = n;
  if (kind == "nan") data[size / 2] = std::numeric_limits<float>::quiet_NaN();
  if (kind == "one") data[largest] *= 1.01f;
  for (int64_t n = 0; n < size && kind == "scale"; ++n) data[n] *= 1.001f;
  for (int64_t n = size - (size + 7) / 8; n < size && kind == "tail"; ++n) data[n] = 0;
}

}  // namespace

void compute(void* device, tensorflow::OpKernel* op, tensorflow::OpKernelContext* context) {
  static const auto original = reinterpret_cast<decltype(&compute)>(dlsym(RTLD_NEXT, COMPUTE));
  static const Fault fault;
  original(device, op, context);
  if (!context->num_outputs() || type_of(op) != fault.type) return;
  if (context->device()->name().find(fault.device) == std::string::npos) return;
  tensorflow::Tensor* output = context->mutable_output(0);
  if (!output || output->dtype() != tensorflow::DT_FLOAT || shape_of(*output) != fault.shape) return;
  alter(static_cast<float*>(output->data()), output->NumElements(), fault.kind);
}
