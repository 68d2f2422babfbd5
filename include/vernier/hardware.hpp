// The matrix engines of this machine, as the probes of model.hpp see them.
//
//     const auto engine = vernier::model::open_hardware("gpu:wgmma-fp16-fp32");
//     std::puts(vernier::model::probe(*engine).text().c_str());
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/model.hpp"

namespace vernier::model {

struct HardwareEngine {
  std::string name;         // "gpu:" instructions of the GPU, "cublas:" products of cuBLAS, "cpu:" of the processor
  std::string instruction;  // "wgmma.m64n8k16", "cublasGemmEx", "TDPBF16PS"
  std::string model;        // what it should compute: its row in engines(), for cuBLAS with what it adds to that
  Engine engine;            // that description
  std::string missing;      // what this machine lacks ("no CUDA device: ..."); empty if the engine runs here
};

// All that this library can drive, here or elsewhere.
VERNIER_MODEL_API std::vector<HardwareEngine> hardware_engines();

VERNIER_MODEL_API bool is_hardware_name(std::string_view name);  // begins with "gpu:", "cublas:" or "cpu:"

// Throws Error: invalid_argument for an unknown name, unsupported with what is missing. One engine serves one thread at
// a time, and each dot() waits for its result; a failing device throws Error(Status::device_error).
VERNIER_MODEL_API std::unique_ptr<MatrixEngine> open_hardware(std::string_view name);

// Topics whose values differ, as "F: 24 instead of 25". probe(hardware) against probe(ModelEngine(e.engine)) tells
// whether the hardware computes what is expected of it, fields that cannot be observed aside.
VERNIER_MODEL_API std::vector<std::string> differences(const ProbeReport& found, const ProbeReport& expected);

}  // namespace vernier::model
