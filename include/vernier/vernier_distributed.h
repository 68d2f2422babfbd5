/* Products whose operands lie in parts, from C: distributed.hpp says what each function does. A part of a matrix is
 * X[r + c * ldx] at (rows[r], columns[c]), indices from 0; elements are bytes. */
#ifndef VERNIER_VERNIER_DISTRIBUTED_H
#define VERNIER_VERNIER_DISTRIBUTED_H

#include "vernier/vernier.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vernier_distributed_product* vernier_distributed;

typedef struct vernier_part {
  const void* X; /* written to by vernier_distributed_finish alone */
  int64_t ldx;
  const int64_t* rows;
  int64_t row_count;
  const int64_t* columns;
  int64_t column_count;
} vernier_part;

/* With the handle's contract and engine; the handle keeps the messages and must outlive the product. */
VERNIER_C_API vernier_status vernier_distributed_create(vernier_handle handle, vernier_type type, vernier_op opa,
                                                        vernier_op opb, int64_t m, int64_t n, int64_t k,
                                                        vernier_distributed* product);
/* Entries, elements and words in device memory, queued on the stream of vernier_cuda_set_stream (DeviceMemory). */
VERNIER_C_API vernier_status vernier_cuda_distributed_create(vernier_handle handle, vernier_type type, vernier_op opa,
                                                             vernier_op opb, int64_t m, int64_t n, int64_t k,
                                                             vernier_distributed* product);
VERNIER_C_API vernier_status vernier_distributed_destroy(vernier_distributed product); /* null is allowed */

/* scan: 1 while there are rounds to come, else 0 */
VERNIER_C_API int vernier_distributed_scanning(vernier_distributed product);
VERNIER_C_API vernier_status vernier_distributed_scan(vernier_distributed product, vernier_side side,
                                                      const vernier_part* part);
/* The messages of the round, valid until vernier_distributed_combine. */
VERNIER_C_API int64_t* vernier_distributed_maxima(vernier_distributed product, int64_t* count);
VERNIER_C_API int64_t* vernier_distributed_sums(vernier_distributed product, int64_t* count);
VERNIER_C_API void vernier_distributed_refuse(vernier_distributed product);
VERNIER_C_API vernier_status vernier_distributed_combine(vernier_distributed product);

/* facts; 0 before the scan is complete and for a pass that there is not */
VERNIER_C_API int vernier_distributed_regular(vernier_distributed product);
VERNIER_C_API int vernier_distributed_passes(vernier_distributed product);
VERNIER_C_API int vernier_distributed_moduli(vernier_distributed product, int pass);
VERNIER_C_API size_t vernier_distributed_element_bytes(vernier_distributed product, int pass);
VERNIER_C_API size_t vernier_distributed_words(vernier_distributed product, int pass);

/* partial */
VERNIER_C_API vernier_status vernier_distributed_convert(vernier_distributed product, int pass, vernier_side side,
                                                         const vernier_part* part, void* elements, int64_t ld);
VERNIER_C_API vernier_status vernier_distributed_multiply(vernier_distributed product, int pass, vernier_op opa,
                                                          vernier_op opb, int64_t m, int64_t n, int64_t k,
                                                          const void* A, int64_t lda, const void* B, int64_t ldb,
                                                          void* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_distributed_partial(vernier_distributed product, int pass, const vernier_part* a,
                                                         const vernier_part* b, void* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_distributed_add(vernier_distributed product, int pass, int64_t count,
                                                     const void* from, void* to);
VERNIER_C_API vernier_status vernier_distributed_to_words(vernier_distributed product, int pass, int64_t count,
                                                          const void* elements, int64_t* words);
VERNIER_C_API vernier_status vernier_distributed_from_words(vernier_distributed product, int pass, int64_t count,
                                                            const int64_t* words, void* elements);

/* The sums over all ranks of a ncclComm_t, for a product of vernier_cuda_distributed_create. */
VERNIER_C_API vernier_status vernier_cuda_distributed_all_reduce(vernier_distributed product, int pass, int64_t count,
                                                                 void* elements, void* communicator);

/* finish: elements[pass], with one leading dimension; alpha and beta are of the product's type */
VERNIER_C_API vernier_status vernier_distributed_finish(vernier_distributed product, const void* const* elements,
                                                        int64_t ld, const void* alpha, const void* beta,
                                                        const vernier_part* c);

#ifdef __cplusplus
}
#endif
#endif
