// A device for tests, made as vendors make theirs: two devices of type TOY, which live in host memory behind TensorFlow's
// stream executor API for plugins, with a few kernels. Some are wrong on purpose; the list is at the end.
//
// As with drivers of real devices, what began in one process can't go on in a fork of it.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tensorflow/c/experimental/stream_executor/stream_executor.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

namespace {

constexpr char kType[] = "TOY";
constexpr int kDevices = 2;
constexpr int64_t kMemory = int64_t{1} << 30;

pid_t began_in = 0;

bool Usable(TF_Status* status) {
  if (began_in == 0 || began_in == getpid()) return true;
  TF_SetStatus(status, TF_FAILED_PRECONDITION, "the TOY driver began in another process, and this process is a fork of that one");
  return false;
}

// Streams, events and timers: all work is done by the time that its call returns, so that they have nothing to keep.
void* const kNothing = &began_in;

template <typename Handle>
void Create(const SP_Device*, Handle* made, TF_Status*) {
  *made = static_cast<Handle>(kNothing);
}
template <typename Handle>
void Destroy(const SP_Device*, Handle) {}

void Copy(void* to, const void* from, uint64_t size, TF_Status* status) {
  if (Usable(status)) std::memcpy(to, from, size);
}

void Allocate(const SP_Device*, uint64_t size, int64_t, SP_DeviceMemoryBase* memory) {
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  memory->opaque = began_in == getpid() ? std::aligned_alloc(64, (size + 63) / 64 * 64) : nullptr;
  memory->size = memory->opaque == nullptr ? 0 : size;
}

void Deallocate(const SP_Device*, SP_DeviceMemoryBase* memory) {
  std::free(memory->opaque);
  memory->opaque = nullptr;
  memory->size = 0;
}

void CreateExecutor(const SP_Platform*, SE_CreateStreamExecutorParams* params, TF_Status*) {
  SP_StreamExecutor* se = params->stream_executor;
  se->struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE;
  se->allocate = Allocate;
  se->deallocate = Deallocate;
  se->host_memory_allocate = [](const SP_Device*, uint64_t size) { return std::malloc(size); };
  se->host_memory_deallocate = [](const SP_Device*, void* memory) { std::free(memory); };
  se->get_allocator_stats = [](const SP_Device*, SP_AllocatorStats*) -> TF_Bool { return 0; };
  se->device_memory_usage = [](const SP_Device*, int64_t* free, int64_t* total) -> TF_Bool {
    *free = *total = kMemory;
    return 1;
  };
  se->create_stream = Create<SP_Stream>;
  se->destroy_stream = Destroy<SP_Stream>;
  se->create_stream_dependency = [](const SP_Device*, SP_Stream, SP_Stream, TF_Status*) {};
  se->get_stream_status = [](const SP_Device*, SP_Stream, TF_Status*) {};
  se->create_event = Create<SP_Event>;
  se->destroy_event = Destroy<SP_Event>;
  se->get_event_status = [](const SP_Device*, SP_Event) { return SE_EVENT_COMPLETE; };
  se->record_event = [](const SP_Device*, SP_Stream, SP_Event, TF_Status*) {};
  se->wait_for_event = [](const SP_Device* const, SP_Stream, SP_Event, TF_Status* const) {};
  se->create_timer = Create<SP_Timer>;
  se->destroy_timer = Destroy<SP_Timer>;
  se->start_timer = [](const SP_Device*, SP_Stream, SP_Timer, TF_Status*) {};
  se->stop_timer = [](const SP_Device*, SP_Stream, SP_Timer, TF_Status*) {};
  se->memcpy_dtoh = [](const SP_Device*, SP_Stream, void* to, const SP_DeviceMemoryBase* from, uint64_t size,
                       TF_Status* status) { Copy(to, from->opaque, size, status); };
  se->memcpy_htod = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, const void* from, uint64_t size,
                       TF_Status* status) { Copy(to->opaque, from, size, status); };
  se->memcpy_dtod = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, const SP_DeviceMemoryBase* from,
                       uint64_t size, TF_Status* status) { Copy(to->opaque, from->opaque, size, status); };
  se->sync_memcpy_dtoh = [](const SP_Device*, void* to, const SP_DeviceMemoryBase* from, uint64_t size,
                            TF_Status* status) { Copy(to, from->opaque, size, status); };
  se->sync_memcpy_htod = [](const SP_Device*, SP_DeviceMemoryBase* to, const void* from, uint64_t size,
                            TF_Status* status) { Copy(to->opaque, from, size, status); };
  se->sync_memcpy_dtod = [](const SP_Device*, SP_DeviceMemoryBase* to, const SP_DeviceMemoryBase* from, uint64_t size,
                            TF_Status* status) { Copy(to->opaque, from->opaque, size, status); };
  se->block_host_for_event = [](const SP_Device*, SP_Event, TF_Status*) {};
  se->block_host_until_done = [](const SP_Device*, SP_Stream, TF_Status*) {};
  se->synchronize_all_activity = [](const SP_Device*, TF_Status*) {};
  se->mem_zero = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, uint64_t size, TF_Status*) {
    std::memset(to->opaque, 0, size);
  };
  se->memset = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, uint8_t pattern, uint64_t size, TF_Status*) {
    std::memset(to->opaque, pattern, size);
  };
  se->memset32 = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, uint32_t pattern, uint64_t size,
                    TF_Status*) { std::fill_n(static_cast<uint32_t*>(to->opaque), size / 4, pattern); };
  se->host_callback = [](const SP_Device*, SP_Stream, SE_StatusCallbackFn callback, void* argument) -> TF_Bool {
    TF_Status* status = TF_NewStatus();
    callback(argument, status);
    const bool done = TF_GetCode(status) == TF_OK;
    TF_DeleteStatus(status);
    return done;
  };
}

void CountDevices(const SP_Platform*, int* count, TF_Status* status) {
  if (!Usable(status)) return;
  began_in = getpid();
  *count = kDevices;
}

void CreateDevice(const SP_Platform*, SE_CreateDeviceParams* params, TF_Status* status) {
  if (!Usable(status)) return;
  params->device->struct_size = SP_DEVICE_STRUCT_SIZE;
  params->device->ordinal = params->ordinal;
  params->device->hardware_name = "host memory";
  params->device->device_vendor = "tests";
}

// A kernel of one tensor, element by element.
template <typename T, T (*function)(T)>
void Unary(void*, TF_OpKernelContext* context) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor* in = nullptr;
  TF_GetInput(context, 0, &in, status);
  if (TF_GetCode(status) == TF_OK) {
    int64_t dims[16];
    const int rank = std::min(TF_NumDims(in), 16);
    for (int i = 0; i < rank; ++i) dims[i] = TF_Dim(in, i);
    const size_t bytes = TF_TensorByteSize(in);
    TF_Tensor* out = TF_AllocateOutput(context, 0, TF_ExpectedOutputDataType(context, 0), dims, rank, bytes, status);
    if (TF_GetCode(status) == TF_OK && bytes) {
      const T* from = static_cast<const T*>(TF_TensorData(in));
      std::transform(from, from + bytes / sizeof(T), static_cast<T*>(TF_TensorData(out)), function);
    }
    if (out != nullptr) TF_DeleteTensor(out);
  }
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(context, status);
  if (in != nullptr) TF_DeleteTensor(in);
  TF_DeleteStatus(status);
}

template <typename T, T (*function)(T)>
void Register(const char* op, TF_DataType dtype) {
  TF_Status* status = TF_NewStatus();
  TF_KernelBuilder* builder = TF_NewKernelBuilder(op, kType, nullptr, &Unary<T, function>, nullptr);
  TF_KernelBuilder_TypeConstraint(builder, "T", dtype, status);
  if (TF_GetCode(status) == TF_OK) TF_RegisterKernelBuilder(op, builder, status);
  if (TF_GetCode(status) != TF_OK) std::abort();
  TF_DeleteStatus(status);
}

template <typename T>
T Sign(T x) {
  return std::isnan(x) ? x : static_cast<T>((x > 0) - (x < 0));
}

template <typename T>
T Aborts(T) {
  std::abort();
}

template <typename T>
T Hangs(T) {
  for (;;) pause();
}

}  // namespace

extern "C" void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status*) {
  params->struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->major_version = SE_MAJOR;
  params->minor_version = SE_MINOR;
  params->patch_version = SE_PATCH;
  params->platform->struct_size = SP_PLATFORM_STRUCT_SIZE;
  params->platform->name = "TOY_IN_HOST_MEMORY";
  params->platform->type = kType;
  params->platform->use_bfc_allocator = 1;
  params->platform->force_memory_growth = 1;
  params->destroy_platform = [](SP_Platform*) {};
  SP_PlatformFns* fns = params->platform_fns;
  fns->struct_size = SP_PLATFORM_FNS_STRUCT_SIZE;
  fns->get_device_count = CountDevices;
  fns->create_device = CreateDevice;
  fns->destroy_device = [](const SP_Platform*, SP_Device*) {};
  fns->create_device_fns = [](const SP_Platform*, SE_CreateDeviceFnsParams* made, TF_Status*) {
    made->device_fns->struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
  };
  fns->destroy_device_fns = [](const SP_Platform*, SP_DeviceFns*) {};
  fns->create_stream_executor = CreateExecutor;
  fns->destroy_stream_executor = [](const SP_Platform*, SP_StreamExecutor*) {};
  fns->create_timer_fns = [](const SP_Platform*, SP_TimerFns* made, TF_Status*) {
    made->struct_size = SP_TIMER_FNS_STRUCT_SIZE;
    made->nanoseconds = [](SP_Timer) -> uint64_t { return 0; };
  };
  fns->destroy_timer_fns = [](const SP_Platform*, SP_TimerFns*) {};
  params->destroy_platform_fns = [](SP_PlatformFns*) {};
}

// Right, but that TensorFlow's threads flush subnormals: Ceil, Sign; Floor of float64; Rint of float32. Wrong: Floor of
// float32 rounds towards zero; Rint of float64 aborts; Round of float32 never returns. All else is lacking.
extern "C" void TF_InitKernel() {
  Register<float, std::ceil>("Ceil", TF_FLOAT);
  Register<double, std::ceil>("Ceil", TF_DOUBLE);
  Register<float, std::trunc>("Floor", TF_FLOAT);
  Register<double, std::floor>("Floor", TF_DOUBLE);
  Register<float, std::rint>("Rint", TF_FLOAT);
  Register<double, Aborts<double>>("Rint", TF_DOUBLE);
  Register<float, Hangs<float>>("Round", TF_FLOAT);
  Register<float, Sign<float>>("Sign", TF_FLOAT);
  Register<double, Sign<double>>("Sign", TF_DOUBLE);
}
