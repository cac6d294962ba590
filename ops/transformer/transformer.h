/* The families of the transformer library. */
#ifndef PIPECTL_OPS_TRANSFORMER_H
#define PIPECTL_OPS_TRANSFORMER_H

#include "common/tensors/format.h"

extern const kit_family transformer_rope_table_family;
extern const kit_family transformer_rope_table_long_family;
extern const kit_family transformer_rope_family;
extern const kit_family transformer_kv_write_family;
extern const kit_family transformer_attention_family;
extern const kit_family transformer_embed_family;
extern const kit_family transformer_gated_family;
extern const kit_family transformer_lora_family;
extern const kit_family transformer_route_family;
extern const kit_family transformer_experts_family;
extern const kit_family transformer_combine_family;
extern const kit_family transformer_penalty_family;
extern const kit_family transformer_sample_family;

#endif
