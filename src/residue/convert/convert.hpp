// Operands on a GPU: statistics, ordinary scales and residues, from one kernel that reads A and B from memory once
// where the caches allow.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/gate.hpp"
#include "engine/panel_cuda.hpp"
#include "number/byte_reduction.hpp"
#include "product/host_answer.hpp"
#include "product/operand.hpp"
#include "product/route.hpp"
#include "residue/scale/scaling.hpp"

namespace vernier::cuda {

// A product is regular if all its entries are ordinary and all its elements finite: then nothing remains to be decided.
// is_irregular: device memory, 0 or 1. answer: yes to the host, if it asks, where the product is regular.
struct Regularity {
  RegularityState* state = nullptr;
  int* is_irregular = nullptr;
  HostAnswer answer = {};
  // Where scales are by another rule than the one that products are judged by.
  bool by_own_rule = false;
  ScalingRule rule{};
};

// One operand: vectors of x.k elements each. planes[modulus][vector][pitch]. Of a batch x is the first product's;
// statistics and scales are [product][vector], planes [modulus][product][vector][pitch].
template <class T>
struct DeviceOperand {
  Operand<T> x;
  VectorStatistics* statistics = nullptr;  // written when measured
  int* scales = nullptr;                   // written when measured (the ordinary scales), else read
  std::uint8_t* planes = nullptr;          // null: no residues are written
  std::int64_t product_stride = 0;         // elements from one product's operand to the next one's
  std::uint8_t* bound_bytes = nullptr;     // bound_byte of each element, [vector][pitch]; null: none are written
  int bound_step = 1;                      // of every k alone that this divides; [vector][device_pitch(k / it)]
  // Of FilledPieces, zeros before; null: nobody asks. Planes' are written beside residues alone, of one to three words.
  std::uint32_t* filled_bytes = nullptr;
  std::uint32_t* filled_planes = nullptr;
  int norm_share_32 = 0;  // log2 of measured vectors' norms may be so much above the rule's, in 32nds
};

// Device memory that nobody needs meanwhile, where blocks of one strip that are no cluster tell each other what they
// found; it may be none.
struct MeetingPlace {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

struct ConversionForm {
  int moduli = 0;
  int words = 2;  // words_of() of the scaled elements
  ByteForm form = ByteForm::natural;
  ModuliList list = ModuliList::densest;
  bool clusters = true;       // by kernels that work in clusters of blocks; else by those that any GPU from 8.0 on runs
  MeetingPlace meeting = {};  // where they do not
  int products = 1;           // of a batch; at most 65535
  bool seldom = true;         // a gate, if there is one, is closed for most data
  bool deep = true;           // measuring looks for flatness below the shallow thresholds (product/flatness.hpp)
  // Beside the kernel before, whose results they do not read, and which waited for all others.
  bool beside_previous = false;
};

// No kernel takes so many words an element.
[[noreturn]] void fail_words(const char* kernel, int words);

// Statistics and ordinary scales of both operands, and their residues.
template <class T>
void measure_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b, const ScalingRule& rule,
                       const ConversionForm& form, const Regularity& regularity, cudaStream_t stream);

// Bytes for the product of |A| and |B| alone (residue/bound), with the statistics that are there. Measuring writes them
// too, where operands have room for them.
template <class T>
void bound_bytes_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b, cudaStream_t stream,
                           const Gate& gate = {});

// Residues alone, with the scales that are there. Either operand may have no vectors.
template <class T>
void decompose_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b, const ConversionForm& form,
                         cudaStream_t stream, const Gate& gate = {});

}  // namespace vernier::cuda
