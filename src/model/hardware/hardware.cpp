// The list of hardware engines, and their doors.
#include "vernier/hardware.hpp"

#include "base/status.hpp"
#include "model/hardware/processor.hpp"
#if VERNIER_HAS_CUDA
#include "model/hardware/gpu.hpp"
#endif

namespace vernier::model {
namespace {

constexpr std::string_view gpu_prefix = "gpu:", cublas_prefix = "cublas:", cpu_prefix = "cpu:";

#if VERNIER_HAS_CUDA
std::string missing_gpu() { return gpu::missing_instructions(); }
std::string missing_cublas() { return gpu::missing_cublas(); }
#else
std::string missing_gpu() { return "no CUDA device: this build has no CUDA part"; }
std::string missing_cublas() { return missing_gpu(); }
#endif

using List = std::vector<HardwareEngine>;

void add_gpu(List& list, const std::string& name, const char* instruction, const std::string& row, int k) {
  static const std::string missing = missing_gpu();
  Engine engine = find_engine(row).engine;
  engine.k = k;
  list.push_back({std::string(gpu_prefix) + name, instruction, row, engine, missing});
}

void add_gpu_instructions(List& list) {
  for (const char* formats : {"fp16-fp32", "bf16-fp32", "fp16-fp16", "tf32-fp32"}) {
    const std::string f = formats;
    const int k = f == "tf32-fp32" ? 8 : 16;
    add_gpu(list, "mma-" + f, k == 8 ? "mma.sync.m16n8k8" : "mma.sync.m16n8k16", "hopper-mma-" + f, k);
    add_gpu(list, "wgmma-" + f, k == 8 ? "wgmma.m64n8k8" : "wgmma.m64n8k16", "hopper-wgmma-" + f, k);
  }
  for (const char* formats : {"fp16-fp32", "bf16-fp32"}) {  // k: the stored elements of A
    const std::string f = formats;
    add_gpu(list, "mma-sp-" + f, "mma.sp.sync.m16n8k32", "hopper-mma-" + f, 16);
    add_gpu(list, "wgmma-sp-" + f, "wgmma.sp.m64n8k32", "hopper-wgmma-" + f, 16);
  }
  for (const char* format : {"e4m3", "e5m2"}) {
    const std::string f = format;
    add_gpu(list, "mma-" + f + "-fp32", "mma.sync.m16n8k32", "hopper-mma-" + f + "-fp32", 32);
    add_gpu(list, "mma-" + f + "-fp16", "mma.sync.m16n8k32", "hopper-mma-" + f + "-fp16", 32);
    add_gpu(list, "wgmma-" + f + "-fp32", "wgmma.m64n8k32", "hopper-wgmma-" + f + "-fp32", 32);
    add_gpu(list, "wgmma-" + f + "-fp16", "wgmma.m64n8k32", "hopper-wgmma-" + f + "-fp16", 32);
  }
  for (const char* saturation : {"", "-satfinite"}) {
    const std::string s = saturation;
    add_gpu(list, "mma-int8" + s, "mma.sync.m16n8k32", "nvidia-int8" + s, 32);
    add_gpu(list, "wgmma-int8" + s, "wgmma.m64n8k32", "nvidia-int8" + s, 32);
  }
  add_gpu(list, "mma-fp64-k4", "mma.sync.m8n8k4", "hopper-fp64", 4);
  add_gpu(list, "mma-fp64-k16", "mma.sync.m16n8k16", "hopper-fp64", 16);
}

// Measured with cuBLAS 13.1 on an H200: sums begin at zero, and beta C is added at the end. a and b change places, for
// row-major kernels compute the transpose.
void add_cublas(List& list, const std::string& name, const std::string& row) {
  Engine engine = find_engine(row).engine;
  engine.k = 64;
  std::string model = row;
  if (engine.sum != Sum::integer) {
    engine.join = Join::last;
    engine.join_rounding = Rounding::nearest_even;
    if (engine.nan_rule == NanRule::bsa) engine.nan_rule = NanRule::asb;
    model += " with c added last";
  }
  list.push_back({std::string(cublas_prefix) + name, "cublasGemmEx", model, engine, missing_cublas()});
}

void add_cublas_products(List& list) {
  for (const char* formats : {"fp16-fp32", "bf16-fp32", "tf32-fp32", "fp16-fp16"})
    add_cublas(list, formats, std::string("hopper-wgmma-") + formats);
  add_cublas(list, "fp64", "hopper-fp64");
  add_cublas(list, "int8", "nvidia-int8");
}

void add_processor(List& list) {
  for (const cpu::Instruction& i : cpu::instructions()) {
    const NamedEngine& row = find_engine(i.engine);
    list.push_back({std::string(cpu_prefix) + i.engine, row.instruction, row.name, row.engine, i.missing()});
  }
}

}  // namespace

bool is_hardware_name(std::string_view name) {
  return name.starts_with(gpu_prefix) || name.starts_with(cublas_prefix) || name.starts_with(cpu_prefix);
}

std::vector<HardwareEngine> hardware_engines() {
  List list;
  add_gpu_instructions(list);
  add_cublas_products(list);
  add_processor(list);
  return list;
}

std::unique_ptr<MatrixEngine> open_hardware(std::string_view name) {
  for (const HardwareEngine& e : hardware_engines()) {
    if (e.name != name) continue;
    if (!e.missing.empty()) fail(Status::unsupported, "{} cannot run here: {}", e.name, e.missing);
    const std::string_view rest = name.substr(name.find(':') + 1);
#if VERNIER_HAS_CUDA
    if (name.starts_with(gpu_prefix)) return gpu::open_instruction(rest, e.engine);
    if (name.starts_with(cublas_prefix)) return gpu::open_cublas(rest, e.engine);
#endif
    for (const cpu::Instruction& i : cpu::instructions())
      if (i.engine == rest) return cpu::open_instruction(i);
  }
  fail(Status::invalid_argument, "no hardware engine is called '{}'; `vernier probe --list` names them all", name);
}

std::vector<std::string> differences(const ProbeReport& found, const ProbeReport& expected) {
  std::vector<std::string> list;
  for (const Finding& f : found.findings)
    if (f.value != expected.value(f.topic))
      list.push_back(f.topic + ": " + f.value + " instead of " + expected.value(f.topic));
  for (const Finding& f : expected.findings)
    if (found.value(f.topic).empty()) list.push_back(f.topic + ": nothing instead of " + f.value);
  return list;
}

}  // namespace vernier::model
