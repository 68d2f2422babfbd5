// The table of engine facts. Sources are named per row; docs/engines.md says what stands on which.
#include <algorithm>

#include "base/status.hpp"
#include "model/spec.hpp"

namespace vernier::model {
namespace {

constexpr const char* fasi = "Fasi et al. 2021";
constexpr const char* later = "Khattak and Mikaitis arXiv 2512.07004; MMA-Sim arXiv 2511.10909";

// Under fp16 results the exponent of a zero may be one more: docs/engines.md has the vector that decides.
constexpr const char* undecided = "; zero_exponent undecided, one more in Khattak and Mikaitis, August 2026";

constexpr const char* h200 = "measured on an H200";
constexpr const char* mma_fp8 = "results of MATLAB-tensor-core; measured on an H100";

using Table = std::vector<NamedEngine>;

void add(Table& table, std::string name, std::string device, std::string instruction, std::string source, Engine e) {
  table.push_back({std::move(name), std::move(device), std::move(instruction), std::move(source), e});
}

void add_early_nvidia(Table& t) {
  using enum Format;
  add(t, "volta-fp16-fp32", "V100", "mma.m8n8k4", fasi, block_engine(fp16, fp32, 4, 4, 23, -131));
  add(t, "volta-fp16-fp16", "V100", "mma.m8n8k4", std::string(fasi) + undecided,
      block_engine(fp16, fp16, 4, 4, 23, -20));
  add(t, "turing-fp16-fp32", "T4", "mma.m16n8k8", fasi, block_engine(fp16, fp32, 8, 8, 24, -132));
  add(t, "turing-fp16-fp16", "T4", "mma.m16n8k8", std::string(fasi) + undecided,
      block_engine(fp16, fp16, 8, 8, 24, -21));
  for (const auto& [prefix, device] : {std::pair{"ampere", "A100"}, std::pair{"ada", "RTX 40"}}) {
    const std::string p = prefix;
    add(t, p + "-fp16-fp32", device, "mma.m16n8k16", later, block_engine(fp16, fp32, 16, 8, 24, -132));
    add(t, p + "-bf16-fp32", device, "mma.m16n8k16", later, block_engine(bf16, fp32, 16, 8, 24, -132));
    add(t, p + "-fp16-fp16", device, "mma.m16n8k16", std::string(later) + undecided,
        block_engine(fp16, fp16, 16, 8, 24, -21));
    add(t, p + "-tf32-fp32", device, "mma.m16n8k8", later, block_engine(tf32, fp32, 8, 4, 24, -132));
  }
  for (Format f : {e4m3, e5m2}) {
    const std::string name = std::string("ada-") + to_string(f);
    add(t, name + "-fp32", "RTX 40", "mma.m16n8k32", later, fp8_engine(f, fp32, 32, 16, -132));
    add(t, name + "-fp16", "RTX 40", "mma.m16n8k32", later, fp8_engine(f, fp16, 32, 16, -21));
  }
}

void add_late_nvidia(Table& t) {
  using enum Format;
  for (const auto& [way, instruction] : {std::pair{"mma", "mma.sync.m16n8k"}, std::pair{"wgmma", "wgmma.m64nNk"}}) {
    const std::string p = std::string("hopper-") + way, i = instruction;
    add(t, p + "-fp16-fp32", "H100, H200", i + "16", later, block_engine(fp16, fp32, 16, 16, 25, -133));
    add(t, p + "-bf16-fp32", "H100, H200", i + "16", later, block_engine(bf16, fp32, 16, 16, 25, -133));
    add(t, p + "-tf32-fp32", "H100, H200", i + "8", later, block_engine(tf32, fp32, 8, 8, 25, -133));
    add(t, p + "-fp16-fp16", "H100, H200", i + "16", h200, block_engine(fp16, fp16, 16, 16, 25, -21));
  }
  for (Format f : {e4m3, e5m2}) {
    const std::string name = to_string(f);
    add(t, "hopper-mma-" + name + "-fp32", "H100, H200, B200", "mma.sync.m16n8k32", later, split_fp8_engine(f, fp32));
    add(t, "hopper-mma-" + name + "-fp16", "H100, H200, B200", "mma.sync.m16n8k32", mma_fp8, split_fp8_engine(f, fp16));
    add(t, "hopper-wgmma-" + name + "-fp32", "H100, H200", "wgmma.m64nNk32", later, fp8_engine(f, fp32, 32, 32, -133));
    add(t, "hopper-wgmma-" + name + "-fp16", "H100, H200", "wgmma.m64nNk32", later, fp8_engine(f, fp16, 32, 32, -133));
  }
  for (Format f : {fp16, bf16})
    add(t, std::string("blackwell-") + to_string(f) + "-fp32", "B200", "tcgen05.mma k16", later,
        block_engine(f, fp32, 16, 16, 25, -133));
  add(t, "blackwell-tf32-fp32", "B200", "tcgen05.mma k8", later, block_engine(tf32, fp32, 8, 8, 25, -133));
  for (Format f : {e4m3, e5m2, e3m2, e2m3, e2m1})
    add(t, std::string("blackwell-") + to_string(f) + "-fp32", "B200", "tcgen05.mma k32", later,
        block_engine(f, fp32, 32, 32, 25, -133));
}

void add_double_and_int8(Table& t) {
  using enum Format;
  add(t, "ampere-fp64", "A100", "mma.m8n8k4", fasi, fma_chain(fp64, fp64, 4));
  add(t, "hopper-fp64", "H100, H200", "mma.m16n8k16", h200, hopper_double(16));
  add(t, "nvidia-int8", "Turing to Hopper", "mma.m16n8k32", "PTX ISA",
      integer_engine(int8, int8, 32, 32, Overflow::wrap));
  add(t, "nvidia-int8-satfinite", "Turing to Hopper", "mma.m16n8k32.satfinite", "PTX ISA; measured on an H200",
      integer_engine(int8, int8, 32, 32, Overflow::saturate_end));
}

void add_intel_and_ideal(Table& t) {
  using enum Format;
  const char* sdm = "Intel SDM pseudo-code";
  add(t, "amx-bf16", "Sapphire Rapids", "TDPBF16PS", sdm, amx_float(bf16));
  add(t, "amx-fp16", "Granite Rapids", "TDPFP16PS", sdm, amx_float(fp16));
  for (Format a : {int8, uint8})
    for (Format b : {int8, uint8})
      add(t, std::string("amx-") + to_string(a) + "-" + to_string(b), "Sapphire Rapids",
          std::string("TDPB") + (a == int8 ? "S" : "U") + (b == int8 ? "S" : "U") + "D", sdm,
          integer_engine(a, b, 64, 64, Overflow::wrap));
  add(t, "avx512-bf16", "Cooper Lake, Zen 4", "VDPBF16PS", sdm, vdpbf16ps());
  add(t, "avx512-vnni", "Cascade Lake, Zen 4", "VPDPBUSD", sdm, integer_engine(uint8, int8, 4, 4, Overflow::wrap));
  add(t, "avx512-vnni-saturating", "Cascade Lake, Zen 4", "VPDPBUSDS", sdm,
      integer_engine(uint8, int8, 4, 4, Overflow::saturate_end));
  add(t, "int32", "any processor", "a * b + c", "C++; VPMADDWD of 16-bit values",
      integer_engine(int8, int8, 1, 1, Overflow::wrap));
  add(t, "mma-rn", "ideal", "-", "Ootomo and Yokota 2021, section 3.2", ootomo(Rounding::nearest_even));
  add(t, "mma-rz", "ideal", "-", "Ootomo and Yokota 2021, section 3.2", ootomo(Rounding::toward_zero));
  const char* blanchard = "Blanchard et al. 2020";
  add(t, "block-fma-true", "ideal", "-", blanchard, block_fma(fp16, fp32, 4, 0, 0, 24));
  add(t, "block-fma-tc32", "ideal", "-", blanchard, block_fma(fp16, fp32, 4, 24, 24, 24));
  add(t, "block-fma-tc16", "ideal", "-", blanchard, block_fma(fp16, fp16, 4, 24, 11, 11));
}

}  // namespace

Engine block_fma(Format input, Format output, int b, int mul_bits, int add_bits, int fma_bits) {
  Engine e = fma_chain(input, output, b);
  e.product_bits = mul_bits;
  e.join = Join::last;
  e.output_fraction_bits = (fma_bits == 0 ? shape_of(output).fraction_bits + 1 : fma_bits) - 1;
  e.nan = shape_of(output).infinity() | (std::uint64_t{1} << (shape_of(output).fraction_bits - 1));
  if (add_bits == 0) {  // sum and c in one rounding
    e.sum = Sum::block;
    e.join = Join::first;
    e.fraction_bits = exact_alignment;
  } else {
    e.sum_bits = add_bits;
  }
  validate(e);
  return e;
}

const std::vector<NamedEngine>& engines() {
  static const Table table = [] {
    Table t;
    add_early_nvidia(t);
    add_late_nvidia(t);
    add_double_and_int8(t);
    add_intel_and_ideal(t);
    return t;
  }();
  return table;
}

const NamedEngine& find_engine(std::string_view name) {
  const auto& table = engines();
  const auto hit = std::find_if(table.begin(), table.end(), [&](const NamedEngine& e) { return e.name == name; });
  if (hit != table.end()) return *hit;
  std::string near;
  const std::string_view start = name.substr(0, name.find('-'));
  for (const NamedEngine& e : table)
    if (!start.empty() && e.name.starts_with(start)) near += (near.empty() ? "" : ", ") + e.name;
  fail(Status::invalid_argument, "no modelled engine is called '{}'; {}{}", name,
       near.empty() ? "`vernier probe --list` names them all" : "near it: ", near);
}

}  // namespace vernier::model
