/* Reading elements of narrow types in kernels; see codec.h. */
#include "common/codec.h"

#include <stdio.h>

#define SMALL_INTEGER(dtype, scalar, shift, mask, width)                                        \
	{                                                                                       \
		dtype,                                                                          \
			"fn $_word(i: u32) -> u32 {\n\treturn "                                 \
			"bitcast<u32>(extractBits(bitcast<" scalar ">($[i >> " shift            \
			"u]), (i & " mask "u) * " width "u, " width "u));\n}\n",                \
			"fn $_bits(i: u32) -> u32 {\n\treturn bitcast<u32>(f32(bitcast<" scalar \
			">($_word(i))));\n}\n"                                                  \
	}
#define WORD "fn $_word(i: u32) -> u32 {\n\treturn $[i];\n}\n"

/* word NULL: no integer; bits NULL: not every element is an f32. `bits` of an integer stands behind its `word`. */
static const struct {
	uint32_t dtype;
	const char *word, *bits;
} rows[] = {
	{PCTL_SCALAR_F32, NULL, "fn $_bits(i: u32) -> u32 {\n\treturn $[i];\n}\n"},
	{PCTL_SCALAR_F16, NULL,
	 "fn $_bits(i: u32) -> u32 {\n"
	 "\treturn bitcast<u32>(unpack2x16float(($[i >> 1u] >> ((i & 1u) * 16u)) & "
	 "0xffffu).x);\n}\n"},
	{PCTL_SCALAR_BF16, NULL,
	 "fn $_bits(i: u32) -> u32 {\n\treturn ($[i >> 1u] >> ((i & 1u) * 16u)) << 16u;\n}\n"},
	{PCTL_SCALAR_I32, WORD, NULL},
	{PCTL_SCALAR_U32, WORD, NULL},
	SMALL_INTEGER(PCTL_SCALAR_I16, "i32", "1", "1", "16"),
	SMALL_INTEGER(PCTL_SCALAR_U16, "u32", "1", "1", "16"),
	SMALL_INTEGER(PCTL_SCALAR_I8, "i32", "2", "3", "8"),
	SMALL_INTEGER(PCTL_SCALAR_U8, "u32", "2", "3", "8"),
	SMALL_INTEGER(PCTL_DTYPE_I4, "i32", "3", "7", "4"),
	SMALL_INTEGER(PCTL_DTYPE_U4, "u32", "3", "7", "4"),
	SMALL_INTEGER(PCTL_DTYPE_I2, "i32", "4", "15", "2"),
	SMALL_INTEGER(PCTL_DTYPE_U2, "u32", "4", "15", "2"),
	SMALL_INTEGER(PCTL_DTYPE_TERNARY, "i32", "4", "15", "2"),
	{PCTL_DTYPE_BINARY,
	 "fn $_word(i: u32) -> u32 {\n"
	 "\treturn bitcast<u32>(i32(($[i >> 5u] >> (i & 31u)) & 1u) * 2i - 1i);\n}\n",
	 "fn $_bits(i: u32) -> u32 {\n\treturn bitcast<u32>(f32(bitcast<i32>($_word(i))));\n}\n"},
	{PCTL_DTYPE_F8E5M2, NULL,
	 "fn $_bits(i: u32) -> u32 {\n"
	 "\treturn bitcast<u32>(unpack2x16float((($[i >> 2u] >> ((i & 3u) * 8u)) & 0xffu) << "
	 "8u).x);\n}\n"},
	{PCTL_DTYPE_F8E4M3, NULL,
	 "fn $_bits(i: u32) -> u32 {\n"
	 "\tlet code = ($[i >> 2u] >> ((i & 3u) * 8u)) & 0xffu;\n"
	 "\tlet magnitude = code & 0x7fu;\n"
	 "\tlet normal = (magnitude << 20u) + (120u << 23u);\n"
	 "\tlet small = bitcast<u32>(f32(magnitude) * 0.001953125);\n"
	 "\tlet bits = select(select(small, normal, magnitude >= 8u), 0x7fc00000u, magnitude == "
	 "0x7fu);\n"
	 "\treturn bits | ((code >> 7u) << 31u);\n}\n"},
	{PCTL_DTYPE_F4, NULL,
	 "fn $_bits(i: u32) -> u32 {\n"
	 "\tlet code = ($[i >> 3u] >> ((i & 7u) * 4u)) & 15u;\n"
	 "\tlet magnitude = code & 7u;\n"
	 "\tlet bits = select((magnitude << 22u) + (126u << 23u), magnitude * 0x3f000000u, "
	 "magnitude < 2u);\n"
	 "\treturn bits | ((code >> 3u) << 31u);\n}\n"},
};

const char *kit_codec_bits(uint32_t dtype)
{
	for (uint32_t i = 0; i < KIT_COUNT(rows); i++)
		if (rows[i].dtype == dtype)
			return rows[i].bits;
	return NULL;
}

const char *kit_codec_word(uint32_t dtype)
{
	for (uint32_t i = 0; i < KIT_COUNT(rows); i++)
		if (rows[i].dtype == dtype)
			return rows[i].word;
	return NULL;
}

void kit_wgsl_through(kit_wgsl *w, uint32_t dtype, const char *name, uint32_t port)
{
	static const char *const parts[][2] = {
		[PCTL_SCALAR_F16] = {NULL, "bitcast<u32>(unpack2x16float(through).x)"},
		[PCTL_SCALAR_BF16] = {NULL, "through << 16u"},
		[PCTL_SCALAR_I16] = {"bitcast<u32>(extractBits(bitcast<i32>(through), 0u, 16u))",
				     "bitcast<u32>(f32(bitcast<i32>($_word(i))))"},
		[PCTL_SCALAR_U16] = {"through", "bitcast<u32>(f32(through))"},
		[PCTL_SCALAR_I8] = {"bitcast<u32>(extractBits(bitcast<i32>(through), 0u, 8u))",
				    "bitcast<u32>(f32(bitcast<i32>($_word(i))))"},
		[PCTL_SCALAR_U8] = {"through", "bitcast<u32>(f32(through))"},
	};
	const int narrow = kit_dtype_bytes(dtype) < 4, wide = kit_dtype_bytes(dtype) == 8;
	char text[400];

	for (uint32_t k = 0; k < (wide ? 1u : 2u); k++) {
		const char *value = narrow ? parts[dtype][k] : "through";

		if (value == NULL)
			continue;
		snprintf(text, sizeof(text),
			 "fn $_%s(i: u32) -> %s {\n\tlet through = read_through_%u(i);\n\treturn "
			 "%s;\n}\n",
			 k == 0 ? "word" : "bits", wide ? "u64" : "u32", port, value);
		kit_wgsl_named(w, text, name);
	}
}

kit_wgsl kit_wgsl_make(const kit_use *u, size_t size)
{
	kit_wgsl w = {u, kit_scratch(u, size), 0, size, 0};

	w.failed = w.text == NULL;
	if (!w.failed)
		w.text[0] = '\0';
	return w;
}

static void put(kit_wgsl *w, const char *from, size_t n)
{
	if (w->failed || n >= w->size - w->n) {
		w->failed = 1;
		return;
	}
	memcpy(w->text + w->n, from, n);
	w->n += n;
	w->text[w->n] = '\0';
}

void kit_wgsl_add(kit_wgsl *w, const char *text)
{
	put(w, text, strlen(text));
}

void kit_wgsl_front(kit_wgsl *w, const char *text)
{
	const size_t n = strlen(text), before = w->n;

	put(w, text, n);
	if (w->failed)
		return;
	memmove(w->text + n, w->text, before);
	memcpy(w->text, text, n);
}

void kit_wgsl_named(kit_wgsl *w, const char *text, const char *name)
{
	while (*text != '\0') {
		const size_t n = strcspn(text, "$");

		put(w, text, n);
		text += n;
		if (*text == '$') {
			kit_wgsl_add(w, name);
			text++;
		}
	}
}

/* The end of an index whose bracket is opened before `at`. */
static const char *index_end(const char *at)
{
	for (uint32_t depth = 1; *at != '\0'; at++) {
		depth += *at == '[';
		depth -= *at == ']';
		if (depth == 0)
			break;
	}
	return at;
}

static int is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

void kit_wgsl_called(kit_wgsl *w, size_t from, const char *name, const char *call)
{
	const size_t n = w->n - from, length = strlen(name);
	char *text = w->failed ? NULL : kit_scratch(w->use, n + 1);

	if (text == NULL) {
		w->failed = 1;
		return;
	}
	memcpy(text, w->text + from, n);
	text[n] = '\0';
	w->n = from;
	for (const char *at = text; *at != '\0';) {
		const int is_first = at == text || !is_name(at[-1]);

		if (!is_first || strncmp(at, name, length) != 0 || at[length] != '[') {
			put(w, at++, 1);
			continue;
		}
		at += length + 1;
		kit_wgsl_add(w, call);
		kit_wgsl_add(w, "(");
		put(w, at, (size_t)(index_end(at) - at));
		kit_wgsl_add(w, ")");
		at = index_end(at);
		at += *at == ']';
	}
	kit_scratch_free(w->use, text);
}

void kit_wgsl_free(kit_wgsl *w)
{
	if (w->text != NULL)
		kit_scratch_free(w->use, w->text);
	w->text = NULL;
}

pctl_status kit_wgsl_status(const kit_wgsl *w)
{
	return w->failed ? pctl_refuse(w->use->call, PC2_NOMEM, "no memory for a kernel") : PCTL_OK;
}
