/* Reading elements of narrow types in kernels; see codec.h. */
#include "common/codec.h"

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
