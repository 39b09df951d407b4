// The kernel for NVIDIA GPUs of the ops in skip_cube.cc. It includes nothing of TensorFlow, whose headers CUDA's
// compiler takes long over, and does not always take.
#include <cuda_runtime.h>

#include <cstdint>

template <typename T>
__global__ void Cube(const T* in, T* out, int64_t size) {
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < size; i += int64_t{gridDim.x} * blockDim.x) {
    out[i] = in[i] * in[i] * in[i];
  }
}

template <typename T>
const char* LaunchCube(const T* in, T* out, int64_t size, void* stream) {
  if (size == 0) return nullptr;  // a grid of no block is an error
  const int threads = 256;
  const int64_t needed = (size + threads - 1) / threads;
  const int blocks = static_cast<int>(needed < 1024 ? needed : 1024);
  Cube<T><<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(in, out, size);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

template const char* LaunchCube<float>(const float*, float*, int64_t, void*);
template const char* LaunchCube<double>(const double*, double*, int64_t, void*);
