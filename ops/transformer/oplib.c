/* The transformer library: what models of language have beside products, norms and softmax (SEMANTICS.md 18). One family a line. */
#include "transformer.h"

static const kit_family *const families[] = {
	&transformer_rope_table_family, &transformer_rope_table_long_family,
	&transformer_rope_family,	&transformer_kv_write_family,
	&transformer_attention_family,	&transformer_embed_family,
	&transformer_gated_family,	&transformer_lora_family,
	&transformer_route_family,	&transformer_experts_family,
	&transformer_combine_family,	&transformer_penalty_family,
	&transformer_sample_family,
};

static const kit_library library = {families, KIT_COUNT(families), 0};

KIT_PLUGIN("transformer", library);
