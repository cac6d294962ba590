/* Reading elements of GGUF's block formats in kernels (SEMANTICS.md 13.5): from the bytes of a block, the integers q, scale and
 * minimum of an element, and the two f16 that they multiply. */
#include <stdio.h>

#include "common/codec.h"

/* Element e + l of the block that begins at byte b, where e is a multiple of 8 and l below 8, or l is 0; $_at is one byte of the tensor, $_near(at, l) that at at + l. */
#define Q(text) "fn $_q(b: u32, e: u32, l: u32) -> i32 {\n" text "}\n"
#define SCALE(text) "fn $_s(b: u32, e: u32) -> i32 {\n" text "}\n"
#define MINIMUM(text) "fn $_m(b: u32, e: u32) -> i32 {\n" text "}\n"
#define ONE SCALE("\treturn 1i;\n")
#define NIBBLE(from, by) "(($_near(b + " from ", l) >> (" by " * 4u)) & 15u)"
#define FIFTH(from) "((($_at(b + " from " + e / 8u) >> (e % 8u + l)) & 1u) << 4u)"
#define SMALL(from, fifth, zero) \
	Q("\treturn i32(" NIBBLE(from " + e % 16u", "(e / 16u)") fifth ") - " zero "i;\n")
#define TWO_BITS(from) \
	"(($_near(b + " from " + e / 128u * 32u + e % 32u, l) >> (e % 128u / 32u * 2u)) & 3u)"
/* Scale and minimum k of the twelve bytes of q4_k and q5_k. */
#define SIX_BITS                                                                         \
	SCALE("\tlet k = e / 32u;\n"                                                     \
	      "\tif (k < 4u) {\n\t\treturn i32($_at(b + 4u + k) & 63u);\n\t}\n"          \
	      "\treturn i32(($_at(b + 8u + k) & 15u) | (($_at(b + k) >> 6u) << 4u));\n") \
	MINIMUM("\tlet k = e / 32u;\n"                                                   \
		"\tif (k < 4u) {\n\t\treturn i32($_at(b + 8u + k) & 63u);\n\t}\n"        \
		"\treturn i32(($_at(b + 8u + k) >> 4u) | (($_at(b + 4u + k) >> 6u) << 4u));\n")

/* Of an invocation that reads eight elements: no branch, and words instead of bytes, for these blocks begin at words. */
#define SIX_BITS_EIGHT                                                                   \
	SCALE("\tlet k = e / 32u;\n\tlet shift = (k & 3u) * 8u;\n"                       \
	      "\tlet x = $_load((b >> 2u) + 1u) >> shift;\n"                             \
	      "\tlet z = $_load((b >> 2u) + 3u) >> shift;\n"                             \
	      "\treturn i32(select((z & 15u) | ((x >> 2u) & 48u), x & 63u, k < 4u));\n") \
	MINIMUM("\tlet k = e / 32u;\n\tlet shift = (k & 3u) * 8u;\n"                     \
		"\tlet y = $_load((b >> 2u) + 2u) >> shift;\n"                           \
		"\tlet z = $_load((b >> 2u) + 3u) >> shift;\n"                           \
		"\treturn i32(select(((z >> 4u) & 15u) | ((y >> 2u) & 48u), y & 63u, k < 4u));\n")
#define Q4_K_INTEGERS \
	Q("\treturn i32(" NIBBLE("16u + e / 64u * 32u + e % 32u", "(e / 32u % 2u)") ");\n")
#define Q5_K_INTEGERS                                                         \
	Q("\tlet fifth = ($_near(b + 16u + e % 32u, l) >> (e / 32u)) & 1u;\n" \
	  "\treturn i32(" NIBBLE("48u + e / 64u * 32u + e % 32u",             \
				 "(e / 32u % 2u)") " | (fifth << 4u));\n")

static const kit_block_format formats[] = {
	{PCTL_DTYPE_Q4_0, 32, 18, 0, 0, KIT_BLOCK_SCALED, 32, 8, SMALL("2u", "", "8") ONE, NULL},
	{PCTL_DTYPE_Q4_1, 32, 20, 0, 2, KIT_BLOCK_ADDED, 32, 15,
	 SMALL("4u", "", "0") ONE MINIMUM("\treturn 1i;\n"), NULL},
	{PCTL_DTYPE_Q5_0, 32, 22, 0, 0, KIT_BLOCK_SCALED, 32, 16,
	 SMALL("6u", " | " FIFTH("2u"), "16") ONE, NULL},
	{PCTL_DTYPE_Q5_1, 32, 24, 0, 2, KIT_BLOCK_ADDED, 32, 31,
	 SMALL("8u", " | " FIFTH("4u"), "0") ONE MINIMUM("\treturn 1i;\n"), NULL},
	{PCTL_DTYPE_Q8_0, 32, 34, 0, 0, KIT_BLOCK_SCALED, 32, 128,
	 Q("\treturn extractBits(bitcast<i32>($_near(b + 2u + e, l)), 0u, 8u);\n") ONE, NULL},
	{PCTL_DTYPE_Q2_K, 256, 84, 80, 82, KIT_BLOCK_TAKEN, 16, 3,
	 Q("\treturn i32(" TWO_BITS("16u") ");\n") SCALE("\treturn i32($_at(b + e / 16u) & 15u);\n")
		 MINIMUM("\treturn i32($_at(b + e / 16u) >> 4u);\n"),
	 NULL},
	{PCTL_DTYPE_Q3_K, 256, 110, 108, 0, KIT_BLOCK_SCALED, 16, 4,
	 Q("\tlet third = ($_near(b + e % 32u, l) >> (e / 32u)) & 1u;\n"
	   "\treturn i32(" TWO_BITS("32u") ") - select(4i, 0i, third == 1u);\n")
		 SCALE("\tlet k = e / 16u;\n"
		       "\tlet upper = ($_at(b + 104u + k % 4u) >> (k / 4u * 2u)) & 3u;\n"
		       "\treturn i32((($_at(b + 96u + k % 8u) >> (k / 8u * 4u)) & 15u) | "
		       "(upper << 4u)) - 32i;\n"),
	 NULL},
	{PCTL_DTYPE_Q4_K, 256, 144, 0, 2, KIT_BLOCK_TAKEN, 32, 15, Q4_K_INTEGERS SIX_BITS,
	 Q4_K_INTEGERS SIX_BITS_EIGHT},
	{PCTL_DTYPE_Q5_K, 256, 176, 0, 2, KIT_BLOCK_TAKEN, 32, 31, Q5_K_INTEGERS SIX_BITS,
	 Q5_K_INTEGERS SIX_BITS_EIGHT},
	{PCTL_DTYPE_Q6_K, 256, 210, 208, 0, KIT_BLOCK_SCALED, 16, 32,
	 Q("\tlet half = e / 128u;\n\tlet j = e % 128u;\n"
	   "\tlet low = " NIBBLE(
		   "half * 64u + j % 64u",
		   "(j / 64u)") ";\n"
				"\tlet high = ($_near(b + 128u + half * 32u + j % 32u, l) "
				">> (j / 32u * 2u)) & 3u;\n"
				"\treturn i32(low | (high << 4u)) - 32i;\n")
		 SCALE("\treturn extractBits(bitcast<i32>($_at(b + 192u + e / 16u)), 0u, 8u);\n"),
	 NULL},
};

const kit_block_format *kit_block_format_of(uint32_t dtype)
{
	for (uint32_t i = 0; i < KIT_COUNT(formats); i++)
		if (formats[i].dtype == dtype)
			return &formats[i];
	return NULL;
}

/* $_near where l is a lane's number and the rest the same for all lanes: three words for eight bytes, which no lane looks for itself. */
static const char near_lanes[] =
	"fn $_near(at: u32, l: u32) -> u32 {\n"
	"\tlet w = at >> 2u;\n\tlet s = (at & 3u) * 8u;\n\tlet middle = $[w + 1u];\n"
	"\tlet low = ($[w] >> s) | ((middle << 1u) << (31u - s));\n"
	"\tlet high = (middle >> s) | (($[w + 2u] << 1u) << (31u - s));\n"
	"\treturn (select(low, high, l >= 4u) >> ((l & 3u) * 8u)) & 0xffu;\n}\n";
static const char reads_eight[] = "fn $_load(i: u32) -> u32 {\n\treturn $[i];\n}\n"
				  "fn $_at(at: u32) -> u32 {\n"
				  "\treturn ($_load(at >> 2u) >> ((at & 3u) * 8u)) & 0xffu;\n}\n"
				  "fn $_half(at: u32) -> u32 {\n"
				  "\treturn ($_load(at >> 2u) >> ((at & 2u) * 8u)) & 0xffffu;\n}\n";
static const char near_eight[] =
	"fn $_near(at: u32, l: u32) -> u32 {\n"
	"\tlet w = at >> 2u;\n\tlet s = (at & 3u) * 8u;\n\tlet middle = $_load(w + 1u);\n"
	"\tlet low = ($_load(w) >> s) | ((middle << 1u) << (31u - s));\n"
	"\tlet high = (middle >> s) | (($_load(w + 2u) << 1u) << (31u - s));\n"
	"\treturn (select(low, high, l >= 4u) >> ((l & 3u) * 8u)) & 0xffu;\n}\n";
/* The same where blocks are whole words; l is 0, or `at` a word's first byte. */
static const char near_words[] = "fn $_near(at: u32, l: u32) -> u32 {\n"
				 "\treturn ($_load((at >> 2u) + (l >> 2u)) >> ((l & 3u) * 8u + (at "
				 "& 3u) * 8u)) & 0xffu;\n}\n";
static const char near_alone[] = "fn $_near(at: u32, l: u32) -> u32 {\n\treturn $_at(at + l);\n}\n";

static void number(kit_wgsl *w, const char *name, const char *suffix, uint32_t value)
{
	char text[80];

	snprintf(text, sizeof(text), "const %s_%s: u32 = %uu;\n", name, suffix, value);
	kit_wgsl_add(w, text);
}

void kit_wgsl_block(kit_wgsl *w, const kit_block_format *f, const char *name, int how)
{
	number(w, name, "BLOCK", f->block);
	number(w, name, "BYTES", f->bytes);
	number(w, name, "D", f->scale);
	number(w, name, "E", f->minimum);
	if (how == KIT_BLOCK_EIGHT) {
		kit_wgsl_named(w, reads_eight, name);
		kit_wgsl_named(w, f->bytes % 4 == 0 ? near_words : near_eight, name);
		kit_wgsl_named(w, f->eight != NULL ? f->eight : f->text, name);
		return;
	}
	kit_wgsl_named(w,
		       "fn $_at(at: u32) -> u32 {\n"
		       "\treturn ($[at >> 2u] >> ((at & 3u) * 8u)) & 0xffu;\n}\n"
		       "fn $_half(at: u32) -> u32 {\n"
		       "\treturn ($[at >> 2u] >> ((at & 2u) * 8u)) & 0xffffu;\n}\n",
		       name);
	kit_wgsl_named(w, how == KIT_BLOCK_LANES ? near_lanes : near_alone, name);
	kit_wgsl_named(w, f->text, name);
}

/* d * s * q, and what is added to it, each exact in f32. */
#define HIGH                                   \
	"fn $_high(b: u32, e: u32) -> f32 {\n" \
	"\treturn unpack2x16float($_half(b + $_D)).x * f32($_s(b, e)) * f32($_q(b, e, 0u));\n}\n"
#define LOW(sign)                             \
	"fn $_low(b: u32, e: u32) -> f32 {\n" \
	"\treturn " sign "(unpack2x16float($_half(b + $_E)).x * f32($_m(b, e)));\n}\n"

void kit_wgsl_factor(kit_wgsl *w, uint32_t dtype, const char *name)
{
	kit_wgsl_factor_by(w, dtype, name, 0);
}

void kit_wgsl_factor_by(kit_wgsl *w, uint32_t dtype, const char *name, int how)
{
	const kit_block_format *f = kit_block_format_of(dtype);

	if (f == NULL) {
		if (kit_codec_word(dtype) != NULL)
			kit_wgsl_named(w, kit_codec_word(dtype), name);
		kit_wgsl_named(w, kit_codec_bits(dtype), name);
		return;
	}
	kit_wgsl_block(w, f, name, how);
	kit_wgsl_named(w, HIGH, name);
	if (f->kind == KIT_BLOCK_SCALED) {
		kit_wgsl_named(
			w,
			"fn $_bits(i: u32) -> u32 {\n"
			"\treturn bitcast<u32>($_high(i / $_BLOCK * $_BYTES, i % $_BLOCK));\n}\n",
			name);
		return;
	}
	kit_wgsl_named(w, f->kind == KIT_BLOCK_ADDED ? LOW("") : LOW("-"), name);
	kit_wgsl_named(
		w,
		"fn $_pair(i: u32) -> vec2<u32> {\n"
		"\tlet b = i / $_BLOCK * $_BYTES;\n\tlet e = i % $_BLOCK;\n"
		"\treturn vec2<u32>(bitcast<u32>($_high(b, e)), bitcast<u32>($_low(b, e)));\n}\n",
		name);
}

int kit_codec_is_factor(uint32_t dtype)
{
	return kit_codec_bits(dtype) != NULL || kit_block_format_of(dtype) != NULL;
}

int kit_codec_is_pair(uint32_t dtype)
{
	const kit_block_format *f = kit_block_format_of(dtype);

	return f != NULL && f->kind != KIT_BLOCK_SCALED;
}
