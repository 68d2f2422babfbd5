// The rows of the engine table as constant expressions, so that a GPU kernel can be compiled for a row.
#pragma once

#include "model/spec.hpp"

namespace vernier::model {

constexpr Engine block_engine(Format in, Format out, int k, int block, int fraction_bits, int zero_exponent) {
  Engine e;
  e.a = e.b = in;
  e.c = out;
  e.k = k;
  e.block = block;
  e.fraction_bits = fraction_bits;
  e.zero_exponent = zero_exponent;
  if (out == Format::fp16) {
    e.rounding = Rounding::nearest_even;
    e.output_fraction_bits = 10;
    e.nan = 0x7fff;
  }
  return e;
}

// fp8 engines with a 13-bit alignment: fp32 results keep 13 fraction bits.
constexpr Engine fp8_engine(Format in, Format out, int k, int block, int zero_exponent) {
  Engine e = block_engine(in, out, k, block, 13, zero_exponent);
  if (out == Format::fp32) e.output_fraction_bits = 13;
  return e;
}

// mma.sync fp8 of Hopper: two blocks of 16 by k mod 4, from zero, then c is added to nearest.
// fp16 results: every block is rounded to nearest.
constexpr Engine split_fp8_engine(Format in, Format out) {
  Engine e = block_engine(in, out, 32, 16, 25, -133);
  e.interleave = 2;
  e.join = Join::last;
  return e;
}

constexpr Engine fma_chain(Format in, Format out, int k) {
  Engine e;
  e.a = e.b = in;
  e.c = out;
  e.k = k;
  e.sum = Sum::chain;
  e.block = k;
  e.sum_bits = out == Format::fp64 ? 53 : 24;
  e.output_fraction_bits = e.sum_bits - 1;
  e.rounding = Rounding::nearest_even;
  e.zero_sign = ZeroSign::ieee;
  e.nan = out == Format::fp64 ? 0x7ff8000000000000 : 0x7fc00000;
  return e;
}

// DMMA of Hopper hands NaNs on.
constexpr Engine hopper_double(int k) {
  Engine e = fma_chain(Format::fp64, Format::fp64, k);
  e.nan = 0xfff8000000000000;
  e.nan_rule = NanRule::bsa;
  return e;
}

// x86 hands NaNs on; the NaN of an invalid operation is the negative one.
constexpr Engine x86_chain(Format in, int k) {
  Engine e = fma_chain(in, Format::fp32, k);
  e.nan = 0xffc00000;
  e.nan_rule = NanRule::abs;
  return e;
}

constexpr Engine amx_float(Format in) {
  Engine e = x86_chain(in, 32);
  e.lanes = 2;
  e.join = Join::last;
  e.flush_inputs = in == Format::bf16;
  e.flush_c = e.flush_output = true;
  return e;
}

constexpr Engine vdpbf16ps() {
  Engine e = x86_chain(Format::bf16, 2);
  e.reverse_pairs = true;
  e.flush_inputs = e.flush_c = e.flush_output = true;
  return e;
}

constexpr Engine integer_engine(Format a, Format b, int k, int block, Overflow overflow) {
  Engine e;
  e.a = a, e.b = b, e.c = Format::int32;
  e.k = k;
  e.sum = Sum::integer;
  e.block = block;
  e.overflow = overflow;
  e.output_fraction_bits = 0;
  e.nan = 0;
  return e;
}

// Ootomo and Yokota 2021, section 3.2: A B in fp32 toward zero, then + C to nearest or toward zero.
constexpr Engine ootomo(Rounding join) {
  Engine e = fma_chain(Format::fp16, Format::fp32, 16);
  e.rounding = Rounding::toward_zero;
  e.join = Join::last;
  e.join_rounding = join;
  return e;
}

}  // namespace vernier::model
