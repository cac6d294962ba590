/* Tensors of one element type made into tensors of another (SEMANTICS.md 13.4, 13.6), and what a tensor holds at a glance. */
#ifndef PIPECTL_FOUNDATION_TENSORFILE_CONVERT_H
#define PIPECTL_FOUNDATION_TENSORFILE_CONVERT_H

#include "foundation/dtype/dtype.h"
#include "pipectl/host.h"

/* The bytes of `from` as elements of type `to`, released with free(). `name` is for messages. Between equal types they are
 * copied. PC4212: one of the types has no numbers, or rows are no whole blocks of `to`; PC4213: an element, or the block of one, cannot be had. */
pctl_status pctl_tensor_convert(const char *name, const pctl_tensor_type *from, const void *data,
				uint32_t to, pctl_dtype_overflow overflow, const pctl_call *call,
				pctl_tensor_type *type, void **out);

/* The same of a part of that tensor, with `before` elements in front of it, which messages count. */
pctl_status pctl_tensor_convert_part(const char *name, uint64_t before,
				     const pctl_tensor_type *from, const void *data, uint32_t to,
				     pctl_dtype_overflow overflow, const pctl_call *call,
				     pctl_tensor_type *type, void **out);

#define PCTL_TENSOR_BINS 16u

/* n elements; of these nan, infinite, zeros; least and most finite ones, their mean in double arithmetic from the first to the
 * last, how many lie in each sixteenth from least to most (the last holds most). finite 0: least, most and mean mean nothing. */
typedef struct pctl_tensor_statistics {
	uint64_t n, nan, infinite, zeros, finite;
	double least, most, mean;
	uint64_t bins[PCTL_TENSOR_BINS];
} pctl_tensor_statistics;

/* 1, or 0 for a type without numbers. */
int pctl_tensor_statistics_of(const pctl_tensor_type *type, const void *data,
			      pctl_tensor_statistics *out);

/* A picture of a matrix (rank 2; of others the last two dimensions of the first): rows lines of columns characters, each the largest
 * magnitude of its part, from ' ' to '@' as shares of the largest of all; '!' where a NaN or an infinity lies. Released with free(); NULL: no
 * memory, or nothing to see. */
char *pctl_tensor_picture(const pctl_tensor_type *type, const void *data, uint32_t rows,
			  uint32_t columns);

#endif
