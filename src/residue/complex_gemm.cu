#include "product/elements.cuh"
#include "residue/chain.hpp"
#include "residue/complex_gemm_cuda.hpp"
#include "residue/regularity.hpp"

namespace vernier::cuda {
template <class R>
bool complex_residue_gemm(const DeviceComplexPlan& plan, const DeviceInt8Engine& engine,
                          const DeviceComplexProblem<R>& p, const Options& options, std::byte* workspace) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  const ProductShape& s = plan.shape;
  Arena arena(workspace, plan.bytes);
  const DeviceComplexBuffers<R> w = carve_device_complex<R>(arena, plan);
  // Rows of op(A) and columns of op(B) as vectors of 2k real numbers.
  const auto vectors = [&](Side side, const std::complex<R>* x, std::int64_t count, std::int64_t ld) {
    const R* data = reinterpret_cast<const R*>(x);
    if (plan.turn[side]) turn_on_device(count, s.k, data, ld, w.turned[side], stream);
    return Operand<R>{.data = plan.turn[side] ? w.turned[side] : data,
                      .vectors = count,
                      .k = 2 * s.k,
                      .ld = 2 * (plan.turn[side] ? s.k : ld),
                      .k_contiguous = true};
  };
  const DeviceResidueProblem<R> problem{vectors(Side::left, p.a, s.m, p.lda),
                                        vectors(Side::right, p.b, s.n, p.ldb),
                                        {{plan.keep_t ? R{1} : p.alpha->real()},
                                         {plan.keep_t ? R{0} : p.beta->real()},
                                         plan.keep_t ? w.t : reinterpret_cast<R*>(p.c),
                                         2 * (plan.keep_t ? p.m : p.ldc)}};
  const ResidueChain<R> chain(engine, problem,
                              {.vectors = w.vectors,
                               .complex = &w,
                               .conjugated = {p.opa == Op::conjugate_transpose, p.opb == Op::conjugate_transpose}},
                              stream);
  bool regular = false;
  {
    RegularityQuestion words(stream);
    const Regularity regularity = words.regularity();
    const Gate gate{regularity.is_irregular};
    const ChainPass pass{
        .pass = {.blocking = {.moduli = plan.moduli, .m_block = s.m, .n_block = s.n, .k_block = 2 * s.k},
                 .words = plan.words},
        .scales = {w.vectors.a.scales, w.vectors.b.scales},
        .products = gate,
        .recombination = gate,
        .converted = true};
    const Sides<DeviceOperand<R>> x = chain.operands(w.parts);
    ConversionForm form = chain.form(pass.pass);
    form.meeting = {reinterpret_cast<std::byte*>(w.c), w.c_bytes};
    measure_on_device<R>(x.a, x.b, plan.rule, form, regularity, stream);
    chain.run(pass);
    regular = words.wait();
  }
  if (regular && plan.keep_t)
    update_on_device({p.m, p.n}, factor_of(p.alpha, options.pointer_mode),
                     reinterpret_cast<const std::complex<R>*>(w.t), p.m, factor_of(p.beta, options.pointer_mode), p.c,
                     p.ldc, stream);
  return regular;
}

template bool complex_residue_gemm(const DeviceComplexPlan&, const DeviceInt8Engine&,
                                   const DeviceComplexProblem<double>&, const Options&, std::byte*);
template bool complex_residue_gemm(const DeviceComplexPlan&, const DeviceInt8Engine&,
                                   const DeviceComplexProblem<float>&, const Options&, std::byte*);

}  // namespace vernier::cuda
