/* The tokenizer of a model from a seed: a token for each byte, written with the letters that GPT-2 has for bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/json.h"
#include "model/synth/synth.h"

enum { KIND_NORMAL = 1, KIND_CONTROL = 3, KIND_UNUSED = 5 }; /* of tokenizer.ggml.token_type */

/* Bytes that print stand for themselves, the others for U+0100 and up. */
static uint32_t letter_of(uint32_t byte)
{
	uint32_t next = 0x100;

	for (uint32_t b = 0; b < 256; b++) {
		const int prints =
			(b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;

		if (b == byte)
			return prints ? b : next;
		next += !prints;
	}
	return 0;
}

static void token(uint64_t i, char out[40])
{
	const uint32_t c = i < 256 ? letter_of((uint32_t)i) : 0;

	if (i >= PCTL_SYNTH_TOKENS)
		snprintf(out, 40, "<|reserved_%" PRIu64 "|>", i - PCTL_SYNTH_TOKENS);
	else if (i >= 256)
		snprintf(out, 40, "%s", i == 256 ? "<|begin|>" : "<|end|>");
	else if (c < 0x80)
		snprintf(out, 40, "%c", (char)c);
	else
		snprintf(out, 40, "%c%c", (char)(uint8_t)(0xc0 | c >> 6),
			 (char)(uint8_t)(0x80 | (c & 0x3f)));
}

void pctl_synth_token_keys(uint64_t n, pctl_gguf_keys *out)
{
	char(*text)[40] = calloc(n, sizeof(*text));
	const char **names = calloc(n, sizeof(*names));
	uint64_t *lengths = calloc(n, sizeof(*lengths));
	int32_t *kinds = calloc(n, sizeof(*kinds));

	if (text == NULL || names == NULL || lengths == NULL || kinds == NULL)
		out->bytes.failed = 1;
	for (uint64_t i = 0; i < n && !out->bytes.failed; i++) {
		token(i, text[i]);
		names[i] = text[i];
		lengths[i] = strlen(text[i]);
		kinds[i] = i < 256		   ? KIND_NORMAL
			   : i < PCTL_SYNTH_TOKENS ? KIND_CONTROL
						   : KIND_UNUSED;
	}
	if (!out->bytes.failed) {
		pctl_gguf_put_string(out, "tokenizer.ggml.model", "gpt2", 4);
		pctl_gguf_put_string(out, "tokenizer.ggml.pre", "gpt-2", 5);
		pctl_gguf_put_strings(out, "tokenizer.ggml.tokens", names, lengths, n);
		pctl_gguf_put_words(out, "tokenizer.ggml.token_type", PCTL_GGUF_I32, kinds, n);
		pctl_gguf_put_strings(out, "tokenizer.ggml.merges", NULL, NULL, 0);
		pctl_gguf_put_u32(out, "tokenizer.ggml.bos_token_id", 256);
		pctl_gguf_put_u32(out, "tokenizer.ggml.eos_token_id", 257);
		pctl_gguf_put_bool(out, "tokenizer.ggml.add_bos_token", 0);
	}
	free(text);
	free(names);
	free(lengths);
	free(kinds);
}

static void byte_level(pctl_json *j, const char *key)
{
	pctl_json_key(j, key);
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "type", "ByteLevel");
	pctl_json_kv_bool(j, "add_prefix_space", 0);
	pctl_json_kv_bool(j, "trim_offsets", 1);
	pctl_json_kv_bool(j, "use_regex", 1);
	pctl_json_object_end(j);
}

static void added(pctl_json *j, uint64_t n)
{
	char text[40];

	pctl_json_key(j, "added_tokens");
	pctl_json_array_begin(j);
	for (uint64_t i = 256; i < n; i++) {
		token(i, text);
		pctl_json_object_begin(j);
		pctl_json_key(j, "id");
		pctl_json_number(j, i);
		pctl_json_kv_string(j, "content", text);
		pctl_json_kv_bool(j, "single_word", 0);
		pctl_json_kv_bool(j, "lstrip", 0);
		pctl_json_kv_bool(j, "rstrip", 0);
		pctl_json_kv_bool(j, "normalized", 0);
		pctl_json_kv_bool(j, "special", 1);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

char *pctl_synth_tokenizer_json(uint64_t n)
{
	char text[40];
	pctl_json j;

	pctl_json_init(&j, 1);
	pctl_json_object_begin(&j);
	pctl_json_kv_string(&j, "version", "1.0");
	pctl_json_kv_string(&j, "truncation", NULL);
	pctl_json_kv_string(&j, "padding", NULL);
	/* Reserved tokens stand for no text: only the two that mean something are added. */
	added(&j, PCTL_SYNTH_TOKENS < n ? PCTL_SYNTH_TOKENS : n);
	pctl_json_kv_string(&j, "normalizer", NULL);
	byte_level(&j, "pre_tokenizer");
	pctl_json_kv_string(&j, "post_processor", NULL);
	byte_level(&j, "decoder");
	pctl_json_key(&j, "model");
	pctl_json_object_begin(&j);
	pctl_json_kv_string(&j, "type", "BPE");
	pctl_json_kv_string(&j, "dropout", NULL);
	pctl_json_kv_string(&j, "unk_token", NULL);
	pctl_json_kv_string(&j, "continuing_subword_prefix", NULL);
	pctl_json_kv_string(&j, "end_of_word_suffix", NULL);
	pctl_json_kv_bool(&j, "fuse_unk", 0);
	pctl_json_kv_bool(&j, "byte_fallback", 0);
	pctl_json_key(&j, "vocab");
	pctl_json_object_begin(&j);
	for (uint64_t i = 0; i < 256; i++) {
		token(i, text);
		pctl_json_key(&j, text);
		pctl_json_number(&j, i);
	}
	pctl_json_object_end(&j);
	pctl_json_key(&j, "merges");
	pctl_json_array_begin(&j);
	pctl_json_array_end(&j);
	pctl_json_object_end(&j);
	pctl_json_object_end(&j);
	return pctl_json_finish(&j);
}
