/* Uniforms of a job: a CBOR document, laid out as the bytes of the uniform struct at group 0 binding 1, and back. One
 * block has one document and the other way round, so a uniform's CID is a function of its values. Limits that a program
 * declares (`//# max`) are checked by whoever runs the job.
 *
 * The document is deterministic CBOR (RFC 8949, section 4.2.1): definite lengths, shortest heads, keys ascending by
 * their encoded bytes (so: by length, then bytewise), none twice, no tags, null or undefined. By type:
 *   struct             a map with every member's name, once, and nothing else
 *   array, vector      an array of exactly as many items
 *   matrix             an array of its columns, each an array of its rows
 *   i8 .. u64          an integer in the range of the type
 *   bool               false or true; u32 0 or 1 in memory
 *   f16, bf16, f32     a float (never an integer) in the shortest of CBOR's forms that holds it, which the type must
 *                      hold exactly; infinities are floats; NaN is F9 7E00 and becomes the type's canonical NaN
 * Memory is little-endian, offsets and strides are the program's, padding is zero.
 *
 * A refusal says the member's path (weights[3].x) and the offset in the document, and is the first there is: behind a
 * malformed item nothing can be trusted.
 */
#ifndef PIPECTL_CHAIN_MESSAGES_UNIFORM_H
#define PIPECTL_CHAIN_MESSAGES_UNIFORM_H

#include "pipectl/program.h"

#define PCTL_UNIFORM_BLOCK_MAX 65536u /* bytes of a block: WebGPU's maxUniformBufferBindingSize */
#define PCTL_UNIFORM_CBOR_MAX (1u << 20) /* bytes of a document */
#define PCTL_UNIFORM_LEVELS_MAX 16u	 /* of nested types */
#define PCTL_UNIFORM_MEMBERS_MAX 1023u	 /* of one struct: WGSL's limit */

/*
 * The struct of the program's uniform variable at group 0 binding 1. Ask the program before it is specialised: an entry
 * point that does not use the variable loses it. PC5760 when there is none, it is no struct, or too large.
 */
pctl_status pctl_uniform_type(const pctl_program *p, const pctl_call *call, uint32_t *out);

/* A document to a block of exactly the struct's size, released with free(). PC5760 to PC5775, PC5777. */
pctl_status pctl_uniform_decode(const pctl_program *p, const void *cbor, uint64_t n,
				const pctl_call *call, uint8_t **out, uint64_t *n_out);

/* The document of a block, released with free(). PC5776 for a block that no document gives: another size, padding that
 * is not zero, a bool over 1, a NaN that is not the canonical one. */
pctl_status pctl_uniform_encode(const pctl_program *p, const void *block, uint64_t n,
				const pctl_call *call, uint8_t **out, uint64_t *n_out);

#endif
