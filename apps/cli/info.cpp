// vernier info: what this build on this machine offers.
#include <fmt/format.h>
#include <omp.h>

#include <cstdlib>
#include <memory>

#include "command.hpp"
#include "vernier/cuda.hpp"
#include "vernier/offload.hpp"

namespace vernier::cli {
namespace {

constexpr const char* variables[] = {"VERNIER_ENGINE",      "VERNIER_CONTRACT",    "VERNIER_MIN_SIZE",
                                     "VERNIER_VERBOSE",     "VERNIER_REPORT",      "VERNIER_BLAS",
                                     "VERNIER_CUDA_ENGINE", "VERNIER_GPU_KERNELS", "VERNIER_DEVICE",
                                     "VERNIER_GPU_MEMORY",  "VERNIER_RATES",       "OMP_NUM_THREADS"};

struct Default {
  std::string engine;
  std::string trouble;  // VERNIER_ENGINE names none
};

Default find_default() {
  try {
    return {default_engine(), ""};
  } catch (const Error& error) {
    return {"", error.what()};
  }
}

Json list_of(const std::vector<EngineInfo>& engines, const std::string& chosen) {
  Json list = Json::array();
  for (const EngineInfo& engine : engines) {
    list.push_back({{"name", engine.name},
                    {"description", engine.description},
                    {"supported", engine.supported},
                    {"missing", engine.missing},
                    {"default", engine.name == chosen}});
  }
  return list;
}

// The first that runs is the default on a GPU.
std::string preferred(const std::vector<EngineInfo>& engines) {
  for (const EngineInfo& engine : engines)
    if (engine.supported) return engine.name;
  return "";
}

Json describe(const Default& chosen) {
  const std::vector<EngineInfo> on_gpu = cuda::engines();
  Json json = {{"version", version()},
               {"engines", list_of(engines(), chosen.engine)},
               {"part_engines", list_of(part_engines(), chosen.engine)},
               {"cuda_engines", list_of(on_gpu, preferred(on_gpu))}};
  json["default_engine"] = chosen.engine.empty() ? Json() : Json(chosen.engine);
  json["threads"] = omp_get_max_threads();
  json["native_blas"] = native_blas();
  json["estimates"] = rates();
  json["cuda"] = cuda_compiled();
  const HostLink link = host_link();
  json["host_link"] = {{"gpus", link.devices},
                       {"name", link.name},
                       {"missing", link.missing},
                       {"bytes_a_second_up", link.up},
                       {"bytes_a_second_down", link.down}};
  json["preload"] =
      "reaches programs that call BLAS, CBLAS or cuBLAS (cuSOLVER's calls included) in a shared library, also by dlsym "
      "(JAX), under the names of PyPI's wheels (NumPy) and behind Julia's switch; not those that are linked statically "
      "or have kernels of their own";
  for (const char* name : variables) {
    const char* value = std::getenv(name);
    json["environment"][name] = value != nullptr ? Json(value) : Json();
  }
  return json;
}

void print_engines(const Json& engines, const std::string& title) {
  fmt::print("{}\n", title);
  for (const Json& engine : engines) {
    const bool supported = engine["supported"];
    const std::string state = engine["default"] ? "default" : supported ? "supported" : "missing";
    fmt::print("  {:<12} {:<10} {}", engine["name"].get<std::string>(), state,
               engine["description"].get<std::string>());
    if (!supported) fmt::print(" [lacks: {}]", engine["missing"].get<std::string>());
    fmt::print("\n");
  }
}

void print_text(const Json& json, const Console& console) {
  fmt::print("{} {}\n\n", console.strong("vernier"), json["version"].get<std::string>());
  print_engines(json["engines"], console.strong("int8 engines, in order of preference"));
  if (!json["part_engines"].empty())
    print_engines(json["part_engines"], console.strong("engines of bf16 parts, for float under contract fp32"));
  if (!json["cuda_engines"].empty()) print_engines(json["cuda_engines"], console.strong("int8 engines of the GPU"));
  const Json& chosen = json["default_engine"];
  fmt::print("\ndefault      {}\n", chosen.is_null() ? "none" : chosen.get<std::string>());
  fmt::print("threads      {}\n", json["threads"].get<int>());
  fmt::print("native BLAS  {}\n", json["native_blas"].get<std::string>());
  fmt::print("estimates    by {}\n", json["estimates"].get<std::string>());
  fmt::print("CUDA         {}\n", json["cuda"] ? "built in" : "left out of this build");
  if (const Json& link = json["host_link"]; link["gpus"] > 0)
    fmt::print("host to GPU  {} x {}: {:.3g} GB/s up, {:.3g} down, from pageable memory\n", link["gpus"].get<int>(),
               link["name"].get<std::string>(), link["bytes_a_second_up"].get<double>() * 1e-9,
               link["bytes_a_second_down"].get<double>() * 1e-9);
  fmt::print("\n");
  fmt::print("{}\n  {}\n\n", console.strong("preload (vernier run)"), json["preload"].get<std::string>());
  fmt::print("{}\n", console.strong("environment variables"));
  for (const auto& [name, value] : json["environment"].items()) {
    fmt::print("  {:<19} {}\n", name, value.is_null() ? "(not set)" : value.get<std::string>());
  }
}

int info(const Console& console, bool measure) {
  if (measure) console.note(fmt::format("rates of this machine are in {}", measure_rates()));
  const Default chosen = find_default();
  const Json json = describe(chosen);
  if (console.json) {
    print_json(json);
  } else {
    print_text(json, console);
  }
  if (chosen.trouble.empty()) return exit_ok;
  console.error(chosen.trouble);
  return exit_failed;
}

}  // namespace

void add_info(CLI::App& program, Console& console, Work& chosen) {
  CLI::App* command = program.add_subcommand("info", "Version, engines, threads, native BLAS, environment.");
  add_output_flags(*command, console);
  const auto measure = std::make_shared<bool>(false);
  command->add_flag("--measure", *measure,
                    "Time products by each method, a second or two, and keep the rates for the estimates of later "
                    "processes (VERNIER_RATES, else ~/.cache/vernier/rates.json).");
  command->footer("Examples:\n  vernier info\n  vernier info --measure\n  VERNIER_ENGINE=portable vernier info --json");
  command->callback([&console, &chosen, measure] { chosen = [&console, measure] { return info(console, *measure); }; });
}

}  // namespace vernier::cli
