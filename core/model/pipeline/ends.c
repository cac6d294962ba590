/* What stands before and behind the layers: embeddings and tables; the last token's row, the norm, the logits. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/pipeline/ops.h"
#include "model/pipeline/private.h"

#define IN_SIZE 700u

/* Which factors they are is the context's, so that it is one table for all sequences, however short they are (SEMANTICS.md 19.2). */
static void long_table(model_text *w)
{
	const float *factors = pctl_model_longrope_factors(w->s, w->plan->context);

	pctl_str_addf(&w->jobs,
		      "{ id = \"rope_table\"; op = \"%s\"; attr : { dims = %" PRIu64
		      "; positions = %" PRIu64 "; base = \"%.9g\"; scaling = \"%s\"; magnitude = "
		      "\"%.9g\"; factors = \"",
		      OP_LONG_TABLE, w->s->rope.dims, w->plan->context, w->s->rope.base,
		      pctl_model_scaling_name(w->s->rope.scaling), w->s->rope.magnitude);
	for (uint64_t i = 0; i < w->s->rope.dims / 2; i++)
		pctl_str_addf(&w->jobs, "%s%.9g", i ? "," : "", (double)factors[i]);
	pctl_str_add(&w->jobs, "\"; }; },\n");
}

static void rope_table(model_text *w)
{
	const pctl_model_rope *r = &w->s->rope;
	const int yarn = r->scaling == PCTL_MODEL_SCALING_YARN;
	char attr[500], scaling[300] = "";

	if (r->scaling == PCTL_MODEL_SCALING_LONGROPE) {
		long_table(w);
		return;
	}

	/* dynamic scales where no position is. */
	if (r->scaling != PCTL_MODEL_SCALING_NONE && r->scaling != PCTL_MODEL_SCALING_DYNAMIC)
		text_print(scaling, sizeof(scaling), " scaling = \"%s\"; factor = \"%.9g\";",
			   pctl_model_scaling_name(r->scaling), r->factor);
	if (r->scaling == PCTL_MODEL_SCALING_LLAMA3)
		text_print(scaling + strlen(scaling), sizeof(scaling) - strlen(scaling),
			   " low_freq_factor = \"%.9g\"; high_freq_factor = \"%.9g\"; "
			   "original_positions = %" PRIu64 ";",
			   r->low, r->high, r->n_original);
	if (yarn)
		text_print(scaling + strlen(scaling), sizeof(scaling) - strlen(scaling),
			   " beta_fast = \"%.9g\"; beta_slow = \"%.9g\"; "
			   "original_positions = %" PRIu64 "; magnitude = \"%.9g\";",
			   r->high, r->low, r->n_original, r->magnitude);
	text_job(w, "rope_table", yarn ? OP_YARN_TABLE : OP_ROPE_TABLE, NULL,
		 text_print(attr, sizeof(attr),
			    "dims = %" PRIu64 "; positions = %" PRIu64 "; base = \"%.9g\";%s",
			    r->dims, w->plan->context, r->base, scaling));
}

void text_begin(model_text *w, char out[REF_SIZE])
{
	char in[IN_SIZE], attr[96], table[REF_SIZE];

	text_weight(w, PCTL_ROLE_TOK_EMBD, 0, table);
	text_job(w, "embed", OP_EMBED,
		 text_print(in, sizeof(in), "tokens = \"$tokens\"; table = \"%s\";", table),
		 w->s->embed_scale == 1
			 ? NULL
			 : text_print(attr, sizeof(attr), "scale = \"%.9g\";", w->s->embed_scale));
	rope_table(w);
	/* Caches are not paged here, experts have no bias: ports without elements. */
	if (w->plan->page == 0)
		text_job(w, "no_pages", OP_FULL, NULL,
			 text_print(attr, sizeof(attr), "shape = \"%" PRIu64 ",0\"; out = \"u32\";",
				    w->plan->batch));
	if (w->s->n_experts != 0)
		text_job(w, "no_bias", OP_FULL, NULL, "shape = \"0\";");
	if (w->s->norm_offset != 0)
		text_job(w, "one", OP_FULL, NULL,
			 text_print(attr, sizeof(attr), "shape = \"1\"; value = \"%.9g\";",
				    w->s->norm_offset));
	text_print(out, REF_SIZE, "embed.y");
}

/* The row of each sequence's last real token, of batch * chunk rows; the first where none is real, which gives a row that nobody reads. */
static void last_rows(model_text *w, const char *x)
{
	char in[IN_SIZE], attr[96];

	text_job(w, "rows", OP_RESHAPE, text_print(in, sizeof(in), "x = \"%s\";", x),
		 text_print(attr, sizeof(attr), "shape = \"-1,%" PRIu64 "\";", w->s->n_embd));
	text_job(w, "first", OP_IOTA, NULL,
		 text_print(attr, sizeof(attr), "shape = \"%" PRIu64 "\"; step = %" PRIu64 ";",
			    w->plan->batch, w->plan->chunk));
	text_job(w, "none", OP_FULL, NULL,
		 text_print(attr, sizeof(attr), "shape = \"%" PRIu64 "\"; out = \"u32\";",
			    w->plan->batch));
	text_job(w, "any", OP_INT_NE, "a = \"$count\"; b = \"none.y\";", NULL);
	text_job(w, "behind", OP_INT_ADD, "a = \"first.y\"; b = \"$count\";", NULL);
	text_job(w, "last", OP_INT_SUB, "a = \"behind.y\"; b = \"any.y\";", NULL);
	text_job(w, "last_rows", OP_ROWS, "table = \"rows.y\"; index = \"last.y\";", NULL);
}

static void capped(model_text *w, const char *head)
{
	char in[IN_SIZE], attr[96];

	text_job(w, "cap", OP_FULL, NULL,
		 text_print(attr, sizeof(attr), "shape = \"1\"; value = \"%.9g\";",
			    w->s->final_softcap));
	text_job(w, "by_cap", OP_DIV,
		 text_print(in, sizeof(in), "a = \"%s\"; b = \"cap.y\";", head), NULL);
	text_job(w, "bent", OP_TANH, "x = \"by_cap.y\";", NULL);
	text_job(w, "capped", OP_MUL, "a = \"bent.y\"; b = \"cap.y\";", NULL);
}

void text_end(model_text *w, const char *x, pctl_str_buf *outputs)
{
	const uint32_t gives = w->plan->gives == 0 ? PCTL_MODEL_GIVES_LOGITS : w->plan->gives;
	const pctl_model_role role = w->s->tied ? PCTL_ROLE_TOK_EMBD : PCTL_ROLE_OUTPUT;
	char weight[REF_SIZE], head[REF_SIZE], in[IN_SIZE], attr[96];

	w->prefix[0] = '\0';
	if (!w->plan->all_logits) {
		last_rows(w, x);
		x = "last_rows.y";
	}
	text_small(w, PCTL_ROLE_OUTPUT_NORM, weight);
	text_job(w, "output_norm", OP_RMS_NORM,
		 text_print(in, sizeof(in), "x = \"%s\"; weight = \"%s\";", x, weight),
		 text_print(attr, sizeof(attr), "eps = \"%.9g\";", w->s->rms_eps));
	if (gives & PCTL_MODEL_GIVES_EMBEDDING)
		pctl_str_add(outputs, "embedding = \"output_norm.y\";\n");
	if ((gives & ~(uint32_t)PCTL_MODEL_GIVES_EMBEDDING) == 0)
		return;
	text_weight(w, role, 0, weight);
	text_job(w, "head", OP_MATMUL,
		 text_print(in, sizeof(in), "a = \"output_norm.y\"; b = \"%s\";", weight),
		 "transpose_b = true;");
	text_print(head, sizeof(head), "head.y");
	w->number = 0;
	text_adapted(w, "head", "output_norm.y", role, head);
	if (w->s->final_softcap != 0)
		capped(w, head);
	x = w->s->final_softcap != 0 ? "capped.y" : head;
	if (gives & PCTL_MODEL_GIVES_LOGITS)
		pctl_str_addf(outputs, "logits = \"%s\";\n", x);
	if (gives & (PCTL_MODEL_GIVES_TOKEN | PCTL_MODEL_GIVES_LOGPROBS))
		text_choice(w, x, outputs);
}
