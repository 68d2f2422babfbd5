// gpu_fuzz: the matrix instructions of the GPU present against the model, billions of cases, and single questions.
//
// A "case" is one element of one instruction: a dot product of k products with its c, as vernier::model::dot computes
// it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "questions.hpp"
#include "runner.hpp"

namespace vernier::model::gpu {
namespace {

using Json = nlohmann::ordered_json;

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

template <class T>
class DeviceObject {
 public:
  DeviceObject() {
    check(cudaMalloc(&pointer_, sizeof(T)), "cudaMalloc");
    check(cudaMemset(pointer_, 0, sizeof(T)), "cudaMemset");
  }
  ~DeviceObject() { cudaFree(pointer_); }
  DeviceObject(const DeviceObject&) = delete;
  DeviceObject& operator=(const DeviceObject&) = delete;
  T* get() const { return pointer_; }
  T read() const {
    T value;
    check(cudaMemcpy(&value, pointer_, sizeof value, cudaMemcpyDeviceToHost), "kernel");
    return value;
  }
  void write(const T& value) const {
    check(cudaMemcpy(pointer_, &value, sizeof value, cudaMemcpyHostToDevice), "cudaMemcpy");
  }

 private:
  T* pointer_ = nullptr;
};

// Single cases, on the instruction and the model.
class Single {
 public:
  explicit Single(const Runner& runner) : runner_(runner) {}

  Case run(Case one) const {
    device_.write(one);
    runner_.launch_single(device_.get());
    check(cudaGetLastError(), runner_.name().c_str());
    return device_.read();
  }
  Case run(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t c) const {
    Case one{};
    const auto bytes = static_cast<std::size_t>(storage_bytes(runner_.engine().a));
    for (int i = 0; i < runner_.engine().k; ++i) {
      std::memcpy(reinterpret_cast<char*>(one.a) + static_cast<std::size_t>(i) * bytes, &a[i], bytes);
      std::memcpy(reinterpret_cast<char*>(one.b) + static_cast<std::size_t>(i) * bytes, &b[i], bytes);
    }
    one.c = c;
    return run(one);
  }

 private:
  const Runner& runner_;
  DeviceObject<Case> device_;
};

std::string hex(std::uint64_t x) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(x));
  return text;
}

std::uint64_t element_of(const std::uint32_t* words, Format format, int i) {
  std::uint64_t x = 0;
  const auto bytes = static_cast<std::size_t>(storage_bytes(format));
  std::memcpy(&x, reinterpret_cast<const char*>(words) + static_cast<std::size_t>(i) * bytes, bytes);
  return x;
}

Json to_json(const Engine& e, const Case& one) {
  Json json, terms = Json::array();
  for (int i = 0; i < e.k; ++i) {
    const std::uint64_t a = element_of(one.a, e.a, i), b = element_of(one.b, e.b, i);
    if (a != 0 || b != 0) terms.push_back({i, hex(a), hex(b), decode(e.a, a), decode(e.b, b)});
  }
  json["terms"] = terms;
  json["c"] = {hex(one.c), decode(e.c, one.c)};
  json["hardware"] = {hex(one.d), decode(e.c, one.d)};
  json["model"] = {hex(one.model), decode(e.c, one.model)};
  return json;
}

int kind_of(const Engine& e, const Case& one) {  // 0 none, 1 numbers differ, 2 NaN codes, 3 signs of zero
  if (one.d == one.model) return 0;
  const double h = decode(e.c, one.d), m = decode(e.c, one.model);
  return h != h && m != m ? 2 : h == 0 && m == 0 ? 3 : 1;
}

// Removes products, c and low bits as long as the difference stays of its kind.
Case shrink(const Runner& runner, const Case& found) {
  const Single gpu(runner);
  const Engine& e = runner.engine();
  Case best = gpu.run(found);
  const int kind = kind_of(e, best);
  if (kind == 0) return found;
  const auto attempt = [&](const Case& next) {
    const Case r = gpu.run(next);
    if (kind_of(e, r) != kind) return false;
    best = r;
    return true;
  };
  const auto bytes = static_cast<std::size_t>(storage_bytes(e.a));
  for (int pass = 0; pass < 3; ++pass) {
    for (int i = 0; i < e.k; ++i) {
      Case next = best;
      std::memset(reinterpret_cast<char*>(next.a) + static_cast<std::size_t>(i) * bytes, 0, bytes);
      std::memset(reinterpret_cast<char*>(next.b) + static_cast<std::size_t>(i) * bytes, 0, bytes);
      attempt(next);
    }
    Case next = best;
    next.c = 0;
    attempt(next);
    for (std::size_t bit = 0; bit < static_cast<std::size_t>(e.k) * bytes * 8; ++bit)
      for (int side = 0; side < 2; ++side) {
        next = best;
        std::uint32_t& word = (side == 0 ? next.a : next.b)[bit / 32];
        if ((word >> bit % 32 & 1) == 0) continue;
        word ^= 1u << bit % 32;
        attempt(next);
      }
    for (int bit = 0; bit < 64; ++bit)
      if ((best.c >> bit & 1) != 0) {
        next = best;
        next.c ^= std::uint64_t{1} << bit;
        attempt(next);
      }
  }
  return best;
}

Json fuzz(const Runner& runner, std::uint64_t seed, double count, double seconds) {
  DeviceObject<Outcome> outcome;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  const std::uint64_t step = std::max<std::uint64_t>(1, 200000000 / runner.cases_per_tile());
  double cases = 0;
  const std::uint64_t first_seed = seed;
  while (cases < count && elapsed() < seconds) {
    runner.launch(seed++, step, outcome.get());
    check(cudaGetLastError(), runner.name().c_str());
    check(cudaDeviceSynchronize(), runner.name().c_str());
    cases += static_cast<double>(step * runner.cases_per_tile());
  }
  const double time = elapsed();
  const Outcome o = outcome.read();
  Json json{{"instruction", runner.name()},
            {"cases", static_cast<std::uint64_t>(cases)},
            {"whole_instructions", static_cast<std::uint64_t>(cases) / static_cast<std::uint64_t>(runner.elements())},
            {"first_seed", first_seed},
            {"last_seed", seed - 1},
            {"cases_per_seed", step * runner.cases_per_tile()},
            {"seconds", time},
            {"mismatches", o.mismatches},
            {"nan_codes", o.nan_codes},
            {"zero_signs", o.zero_signs}};
  std::fprintf(stderr,
               "%-30s %9.3g cases %7.2f s %9.3g /s  differences: %llu, of NaN codes: %llu, of zero signs: %llu\n",
               runner.name().c_str(), cases, time, cases / time, o.mismatches, o.nan_codes, o.zero_signs);
  for (int i = 0; i < 10; ++i)
    if (o.by_stratum[i] != 0) json["by_stratum"][std::to_string(i)] = o.by_stratum[i];
  for (unsigned kind = 0; kind < 3; ++kind)
    for (unsigned i = 0; i < std::min(o.kept[kind], kept_cases); ++i) {
      const Case& found = o.cases[kind * kept_cases + i];
      Json one{{"stratum", found.stratum},
               {"found", to_json(runner.engine(), found)},
               {"shrunk", to_json(runner.engine(), shrink(runner, found))}};
      if (i < 2) std::fprintf(stderr, "    %s\n", one["shrunk"].dump().c_str());
      json["differences"].push_back(one);
    }
  return json;
}

Json ask(const Runners& runners) {
  Json answers = Json::array();
  for (const Question& q : questions())
    for (const auto& runner : runners) {
      if (runner->name() != q.instruction) continue;
      std::vector<std::uint64_t> a(static_cast<std::size_t>(runner->engine().k), 0), b = a;
      for (const auto& [i, x, y] : q.terms) {
        a[static_cast<std::size_t>(i)] = x;
        b[static_cast<std::size_t>(i)] = y;
      }
      const Case r = Single(*runner).run(a.data(), b.data(), q.c);
      Json json = to_json(runner->engine(), r);
      json["question"] = q.question;
      json["instruction"] = q.instruction;
      answers.push_back(json);
      std::fprintf(stderr, "%-62s %-28s hardware %-12s %-14.8g model %s\n", q.question.c_str(), q.instruction.c_str(),
                   hex(r.d).c_str(), decode(runner->engine().c, r.d), hex(r.model).c_str());
    }
  return answers;
}

int run(int argc, char** argv) {
  double count = 1e10, seconds = 30;
  std::uint64_t seed = 1;
  std::string only, path;
  bool list = false, no_fuzz = false;
  CLI::App app{"Compares the matrix instructions of this GPU with their models, bit for bit"};
  app.add_option("--count", count, "cases per instruction; a case is one element of one instruction");
  app.add_option("--seconds", seconds, "at most this long per instruction");
  app.add_option("--seed", seed, "first seed");
  app.add_option("--only", only, "instructions whose name contains this");
  app.add_option("--json", path, "write everything found to this file");
  app.add_flag("--no-fuzz", no_fuzz, "questions only");
  app.add_flag("--list", list, "list the instructions");
  CLI11_PARSE(app, argc, argv);

  Runners all, runners;
  add_half_runners(all);
  add_tf32_runners(all);
  add_fp8_runners(all);
  add_integer_runners(all);
  add_double_runners(all);
  for (auto& r : all)
    if (r->name().find(only) != std::string::npos) runners.push_back(std::move(r));
  if (list) {
    for (const auto& r : runners) std::puts(r->name().c_str());
    return 0;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fputs("no CUDA device\n", stderr);
    return 2;
  }
  Json json;
  for (const auto& [key, value] : describe_device()) json[key] = value;
  json["case"] = "one element of one instruction: k products and c; every element of an instruction is a case";
  json["questions"] = ask(runners);
  bool equal = true;
  if (!no_fuzz)
    for (const auto& r : runners) {
      json["fuzz"].push_back(fuzz(*r, seed, count, seconds));
      for (const char* kind : {"mismatches", "nan_codes", "zero_signs"})
        equal = equal && json["fuzz"].back()[kind] == 0;
    }
  if (!no_fuzz) json["equal"] = equal;
  if (!path.empty()) std::ofstream(path) << json.dump(1) << "\n";
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace vernier::model::gpu

int main(int argc, char** argv) {
  try {
    return vernier::model::gpu::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
