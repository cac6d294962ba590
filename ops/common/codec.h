/* Kernels made as text: a text that grows, and how a kernel reads elements of a type out of the words of a buffer (SEMANTICS.md 13).
 * Narrow elements are taken out of words by integer instructions, so no device needs storage of 8 or 16 bits. */
#ifndef PIPECTL_OPS_CODEC_H
#define PIPECTL_OPS_CODEC_H

#include "common/kit.h"

/* A text under construction in memory of the host. After `failed` every call does nothing. */
typedef struct kit_wgsl {
	const kit_use *use;
	char *text;
	size_t n, size;
	int failed;
} kit_wgsl;

/* The caller gives it back with kit_wgsl_free, whatever happened. */
kit_wgsl kit_wgsl_make(const kit_use *u, size_t size);
void kit_wgsl_add(kit_wgsl *w, const char *text);
/* In front of all that is there. */
void kit_wgsl_front(kit_wgsl *w, const char *text);
/* A text with every '$' read as `name`. */
void kit_wgsl_named(kit_wgsl *w, const char *text, const char *name);
/* What was added from character `from` on, with every `name[index]` read as call(index): for what lies in several bindings. */
void kit_wgsl_called(kit_wgsl *w, size_t from, const char *name, const char *call);
void kit_wgsl_free(kit_wgsl *w);
/* PCTL_OK, or why there is no text. */
pctl_status kit_wgsl_status(const kit_wgsl *w);

/*
 * Text with '$' for the name of a variable `array<u32>`, that defines:
 *
 *     fn $_bits(i: u32) -> u32   element i as the bits of the f32 that it is; every NaN is some NaN
 *     fn $_word(i: u32) -> u32   element i of an integer type, extended by its sign, as a word
 *
 * NULL where an f32 does not hold every element of the type, or where it is no integer of 32 bits or fewer.
 */
const char *kit_codec_bits(uint32_t dtype);
const char *kit_codec_word(uint32_t dtype);

/*
 * The same, with elements read through the function of the host for input `port` (PCTL_PLAN_READ_THROUGH): `name_word` of 64-bit integers is a u64. Of f64 there is
 * `name_word` alone, its bits; of other types of 32 bits both.
 */
void kit_wgsl_through(kit_wgsl *w, uint32_t dtype, const char *name, uint32_t port);

/* A block format: d * s * q, or that with e * m added or taken away; d and e f16 at bytes `scale` and `minimum` of a block. s and m are the same for `group` elements
 * from a multiple of that on, and q is no larger than `most`. */
enum { KIT_BLOCK_SCALED, KIT_BLOCK_ADDED, KIT_BLOCK_TAKEN };
typedef struct kit_block_format {
	uint32_t dtype, block, bytes, scale, minimum, kind, group, most;
	const char *text;  /* $_q, $_s and, but for KIT_BLOCK_SCALED, $_m */
	const char *eight; /* for KIT_BLOCK_EIGHT; NULL: text */
} kit_block_format;
/* NULL: no such. */
const kit_block_format *kit_block_format_of(uint32_t dtype);
/*
 * How the integers of an element are read: $_BLOCK, $_BYTES, $_D, $_E, $_half(byte), $_s(block's byte, element), $_m, and $_q(b, e, l) of
 * element e + l.
 * KIT_BLOCK_ALONE: l is 0. KIT_BLOCK_LANES: l is the number, below 8, of a lane among eight that share b and e, a multiple of 8, and read together.
 * KIT_BLOCK_EIGHT: l is a constant below 8, of an invocation of a GPU that reads all eight.
 */
enum { KIT_BLOCK_ALONE, KIT_BLOCK_LANES, KIT_BLOCK_EIGHT };
void kit_wgsl_block(kit_wgsl *w, const kit_block_format *f, const char *name, int how);

/*
 * Any type whose elements are f32, or exact sums of two: `name_bits(i)` of the first, of the others `name_pair(i)`, the bits of the
 * two f32 that are the element together. The second way is that of the block formats with a minimum.
 */
int kit_codec_is_factor(uint32_t dtype);
int kit_codec_is_pair(uint32_t dtype);
void kit_wgsl_factor(kit_wgsl *w, uint32_t dtype, const char *name);
/* how: of kit_wgsl_block. */
void kit_wgsl_factor_by(kit_wgsl *w, uint32_t dtype, const char *name, int how);

#endif
