// amx_fuzz: the matrix instructions of this processor against the model.
//
// A "case" is one element of one instruction: k products and c, as vernier::model::dot computes it.
#include <cpuid.h>
#include <omp.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "instruction.hpp"

namespace vernier::model::cpu {
namespace {

using Json = nlohmann::ordered_json;

std::string processor_name() {
  unsigned name[12] = {};
  for (unsigned i = 0; i < 3; ++i)
    if (__get_cpuid(0x80000002 + i, &name[4 * i], &name[4 * i + 1], &name[4 * i + 2], &name[4 * i + 3]) == 0) return "";
  char text[49] = {};
  std::memcpy(text, name, sizeof name);
  return text;
}

constexpr Engine bf16_tiles = amx_float(Format::bf16), bf16_pairs = vdpbf16ps();
constexpr Engine fp16_tiles = amx_float(Format::fp16);
constexpr Engine ss = integer_engine(Format::int8, Format::int8, 64, 64, Overflow::wrap);
constexpr Engine su = integer_engine(Format::int8, Format::uint8, 64, 64, Overflow::wrap);
constexpr Engine us = integer_engine(Format::uint8, Format::int8, 64, 64, Overflow::wrap);
constexpr Engine uu = integer_engine(Format::uint8, Format::uint8, 64, 64, Overflow::wrap);
constexpr Engine us_fours = integer_engine(Format::uint8, Format::int8, 4, 4, Overflow::wrap);
constexpr Engine us_fours_saturating = integer_engine(Format::uint8, Format::int8, 4, 4, Overflow::saturate_end);

int fill_bf16_tiles(Tiles& t, Random& random) { return fill_floats(t, Format::bf16, true, random); }
int fill_fp16_tiles(Tiles& t, Random& random) { return fill_floats(t, Format::fp16, true, random); }
int fill_pairs(Tiles& t, Random& random) { return fill_floats(t, Format::bf16, false, random); }

const Instruction& named(const char* engine) {
  for (const Instruction& i : instructions())
    if (std::string_view(i.engine) == engine) return i;
  std::abort();  // the names below are those of the list
}

const std::vector<Subject>& subjects() {
  using Half = std::uint16_t;
  using Byte = std::uint8_t;
  static const std::vector<Subject> list = {
      {named("amx-bf16"), bf16_tiles, fill_bf16_tiles, model_element<Half, true, bf16_tiles>},
      {named("amx-fp16"), fp16_tiles, fill_fp16_tiles, model_element<Half, true, fp16_tiles>},
      {named("amx-int8-int8"), ss, fill_integers, model_element<Byte, true, ss>},
      {named("amx-int8-uint8"), su, fill_integers, model_element<Byte, true, su>},
      {named("amx-uint8-int8"), us, fill_integers, model_element<Byte, true, us>},
      {named("amx-uint8-uint8"), uu, fill_integers, model_element<Byte, true, uu>},
      {named("avx512-bf16"), bf16_pairs, fill_pairs, model_element<Half, false, bf16_pairs>},
      {named("avx512-vnni"), us_fours, fill_integers, model_element<Byte, false, us_fours>},
      {named("avx512-vnni-saturating"), us_fours_saturating, fill_integers,
       model_element<Byte, false, us_fours_saturating>},
  };
  return list;
}

struct Case {
  std::vector<std::uint64_t> a, b;
  std::uint64_t c = 0, hardware = 0, model = 0;
  int stratum = 0;
};

enum Kind : int { equal, numbers, nan_codes, zero_signs, kinds };

Kind kind_of(const Engine& e, std::uint64_t hardware, std::uint64_t model) {
  if (hardware == model) return equal;
  if (e.sum == Sum::integer) return numbers;
  const Unpacked h = unpack(shape_of(e.c), hardware), m = unpack(shape_of(e.c), model);
  if (h.kind == NumberClass::nan && m.kind == NumberClass::nan) return nan_codes;
  return h.is_zero() && m.is_zero() ? zero_signs : numbers;
}

// Removes products, c and low bits as long as the difference stays of its kind.
Case shrink(const Subject& subject, Case best) {
  const auto processor = open_instruction(subject.instruction);
  const Engine& e = subject.engine;
  const Kind kind = kind_of(e, best.hardware, best.model);
  const auto attempt = [&](Case next) {
    next.hardware = processor->dot(next.a.data(), next.b.data(), next.c);
    next.model = dot(e, next.a.data(), next.b.data(), next.c);
    if (kind_of(e, next.hardware, next.model) == kind) best = next;
  };
  for (int pass = 0; pass < 3; ++pass) {
    for (std::size_t i = 0; i < best.a.size(); ++i) {
      Case next = best;
      next.a[i] = next.b[i] = 0;
      attempt(next);
    }
    Case next = best;
    next.c = 0;
    attempt(next);
    for (std::size_t i = 0; i <= 2 * best.a.size(); ++i)
      for (int bit = 0; bit < 32; ++bit) {
        next = best;
        std::uint64_t& word = i == 0 ? next.c : i % 2 != 0 ? next.a[i / 2] : next.b[i / 2 - 1];
        if ((word >> bit & 1) == 0) continue;
        word ^= std::uint64_t{1} << bit;
        attempt(next);
      }
  }
  return best;
}

std::string hex(std::uint64_t x) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(x));
  return text;
}

Json to_json(const Engine& e, const Case& one) {
  Json terms = Json::array();
  for (std::size_t i = 0; i < one.a.size(); ++i)
    if (one.a[i] != 0 || one.b[i] != 0) terms.push_back({i, hex(one.a[i]), hex(one.b[i])});
  return {{"terms", terms},
          {"c", hex(one.c)},
          {"hardware", {hex(one.hardware), decode(e.c, one.hardware)}},
          {"model", {hex(one.model), decode(e.c, one.model)}},
          {"stratum", one.stratum}};
}

Case take(const Subject& subject, const Tiles& t, int row, int column, std::uint64_t model, int stratum) {
  Case one;
  for (int k = 0; k < subject.engine.k; ++k) {
    const bool halves = storage_bytes(subject.engine.a) == 2, tile = subject.instruction.tile;
    one.a.push_back(halves ? element_a<std::uint16_t>(t, tile, row, column, k)
                           : element_a<std::uint8_t>(t, tile, row, column, k));
    one.b.push_back(halves ? element_b<std::uint16_t>(t, tile, row, column, k)
                           : element_b<std::uint8_t>(t, tile, row, column, k));
  }
  const int i = row * columns + column;
  one.c = t.c[i];
  one.hardware = t.d[i];
  one.model = model;
  one.stratum = stratum;
  return one;
}

struct Outcome {
  std::uint64_t cases = 0, differences[kinds] = {};
  std::vector<Case> kept[kinds];

  void add(const Outcome& other) {
    cases += other.cases;
    for (int kind = 1; kind < kinds; ++kind) {
      differences[kind] += other.differences[kind];
      for (const Case& one : other.kept[kind])
        if (kept[kind].size() < 8) kept[kind].push_back(one);
    }
  }
};

void compare_tile(const Subject& subject, Random& random, Outcome& outcome) {
  Tiles t;
  const int stratum = subject.fill(t, random);
  if (stratum == cancels_c)  // c is minus the product, give or take
    for (int i = 0; i < rows * columns; ++i)
      t.c[i] = (subject.model(t, i / columns, i % columns, 0) ^ 0x80000000u) +
               static_cast<std::uint32_t>(random.between(-3, 3));
  subject.instruction.run(t);
  for (int i = 0; i < rows * columns; ++i) {
    const std::uint32_t m = subject.model(t, i / columns, i % columns, t.c[i]);
    const Kind kind = kind_of(subject.engine, t.d[i], m);
    if (kind == equal) continue;
    if (outcome.differences[kind]++ < 8)
      outcome.kept[kind].push_back(take(subject, t, i / columns, i % columns, m, stratum));
  }
  outcome.cases += static_cast<std::uint64_t>(rows * columns);
}

Json fuzz(const Subject& subject, std::uint64_t seed, double count, double seconds) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  Outcome total;
#pragma omp parallel
  {
    if (subject.instruction.tile) configure_tiles();
    Random random(seed * 1000003 + static_cast<std::uint64_t>(omp_get_thread_num()) * 0x100000001b3);
    Outcome mine;
    const double share = count / omp_get_num_threads();
    for (int n = 0; static_cast<double>(mine.cases) < share && (n % 64 != 0 || elapsed() < seconds); ++n)
      compare_tile(subject, random, mine);
#pragma omp critical
    total.add(mine);
  }
  const double time = elapsed();
  std::fprintf(stderr, "%-22s %9.4g cases %7.2f s  differences: %llu, of NaN codes: %llu, of zero signs: %llu\n",
               subject.instruction.engine, static_cast<double>(total.cases), time,
               static_cast<unsigned long long>(total.differences[numbers]),
               static_cast<unsigned long long>(total.differences[nan_codes]),
               static_cast<unsigned long long>(total.differences[zero_signs]));
  Json json{{"instruction", subject.instruction.engine},
            {"cases", total.cases},
            {"seed", seed},
            {"threads", omp_get_max_threads()},
            {"seconds", time},
            {"mismatches", total.differences[numbers]},
            {"nan_codes", total.differences[nan_codes]},
            {"zero_signs", total.differences[zero_signs]}};
  for (int kind = 1; kind < kinds; ++kind)
    for (const Case& one : total.kept[kind]) {
      json["differences"].push_back(
          {{"found", to_json(subject.engine, one)}, {"shrunk", to_json(subject.engine, shrink(subject, one))}});
      std::fprintf(stderr, "    %s\n", json["differences"].back()["shrunk"].dump().c_str());
    }
  return json;
}

int run(int argc, char** argv) {
  double count = 1e9, seconds = 60;
  std::uint64_t seed = 1;
  std::string only, path;
  CLI::App app{"Compares AMX, AVX512_BF16 and AVX512_VNNI of this processor with their models, bit for bit"};
  app.add_option("--count", count, "cases per instruction; a case is one element of one instruction");
  app.add_option("--seconds", seconds, "at most this long per instruction");
  app.add_option("--seed", seed, "seed");
  app.add_option("--only", only, "instructions whose name contains this");
  app.add_option("--json", path, "write everything found to this file");
  CLI11_PARSE(app, argc, argv);

  Json json{{"processor", processor_name()},
            {"case", "one element of one instruction: k products and c; every element of an instruction is a case"}};
  bool same = true, any = false;
  for (const Subject& subject : subjects()) {
    const std::string name = subject.instruction.engine, missing = subject.instruction.missing();
    if (name.find(only) == std::string::npos) continue;
    if (!missing.empty()) {
      std::fprintf(stderr, "%-22s not compared: %s\n", name.c_str(), missing.c_str());
      json["not_compared"].push_back({{"instruction", name}, {"reason", missing}});
      continue;
    }
    any = true;
    json["fuzz"].push_back(fuzz(subject, seed, count, seconds));
    for (const char* kind : {"mismatches", "nan_codes", "zero_signs"}) same = same && json["fuzz"].back()[kind] == 0;
  }
  json["equal"] = any && same;
  if (!path.empty()) std::ofstream(path) << json.dump(1) << "\n";
  return !any ? 2 : same ? 0 : 1;
}

}  // namespace
}  // namespace vernier::model::cpu

int main(int argc, char** argv) {
  try {
    return vernier::model::cpu::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
