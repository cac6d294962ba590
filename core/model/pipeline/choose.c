/* The next token of each sequence out of its logits: penalties, the draw, and what is told of probabilities. */
#include <inttypes.h>
#include <stdio.h>

#include "model/pipeline/ops.h"
#include "model/pipeline/private.h"

#define IN_SIZE 400u

static void input(pctl_str_buf *inputs, const char *name, const char *dtype, uint64_t batch,
		  uint64_t row)
{
	pctl_str_addf(inputs, "%s : { type = \"%s[%" PRIu64, name, dtype, batch);
	if (row != 0)
		pctl_str_addf(inputs, ",%" PRIu64, row);
	pctl_str_add(inputs, "]\"; };\n");
}

void text_choice_inputs(const model_text *w, pctl_str_buf *inputs)
{
	static const struct {
		const char *name, *dtype;
		uint32_t row, gives;
	} rows[] = {{"temperature", "f32", 0, PCTL_MODEL_GIVES_TOKEN},
		    {"top_k", "u32", 0, PCTL_MODEL_GIVES_TOKEN},
		    {"top_p", "f32", 0, PCTL_MODEL_GIVES_TOKEN},
		    {"min_p", "f32", 0, PCTL_MODEL_GIVES_TOKEN},
		    {"key", "u32", 2, PCTL_MODEL_GIVES_TOKEN},
		    {"position", "u32", 0, PCTL_MODEL_GIVES_TOKEN},
		    {"seen", "u32", 0, PCTL_MODEL_GIVES_PENALTIES},
		    {"repetition", "f32", 0, PCTL_MODEL_GIVES_PENALTIES},
		    {"presence", "f32", 0, PCTL_MODEL_GIVES_PENALTIES},
		    {"frequency", "f32", 0, PCTL_MODEL_GIVES_PENALTIES}};
	/* What the parameters of a draw are there by. */
	const uint32_t gives = w->plan->gives & PCTL_MODEL_GIVES_GREEDY
				       ? w->plan->gives & ~(uint32_t)PCTL_MODEL_GIVES_TOKEN
				       : w->plan->gives;

	if (w->plan->page != 0)
		input(inputs, "pages", "u32", w->plan->batch, w->plan->context / w->plan->page);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (gives & rows[i].gives)
			input(inputs, rows[i].name, rows[i].dtype, w->plan->batch, rows[i].row);
	if (w->plan->gives & PCTL_MODEL_GIVES_PENALTIES)
		input(inputs, "history", "u32", w->plan->batch, w->plan->context);
}

static void told(model_text *w, const char *x, const char *token, pctl_str_buf *outputs)
{
	char in[IN_SIZE], attr[96], chosen[40];

	text_job(w, "logprobs", OP_LOG_SOFTMAX, text_print(in, sizeof(in), "x = \"%s\";", x), NULL);
	text_job(w, "chosen", OP_RESHAPE, text_print(chosen, sizeof(chosen), "x = \"%s\";", token),
		 text_print(attr, sizeof(attr), "shape = \"%" PRIu64 ",1\";", w->plan->batch));
	text_job(w, "of_chosen", OP_TAKE_ALONG, "x = \"logprobs.y\"; index = \"chosen.y\";",
		 "axis = 1;");
	text_job(w, "most", OP_TOPK, "x = \"logprobs.y\";",
		 text_print(attr, sizeof(attr), "k = %" PRIu64 ";",
			    w->s->n_vocab < PCTL_MODEL_TOP ? w->s->n_vocab : PCTL_MODEL_TOP));
	pctl_str_add(outputs, "logprob = \"of_chosen.y\";\ntop_logprob = \"most.y\";\n"
			      "top = \"most.index\";\n");
}

void text_choice(model_text *w, const char *x, pctl_str_buf *outputs)
{
	const char *token = w->plan->gives & PCTL_MODEL_GIVES_GREEDY ? "draw.y" : "draw.token";
	char in[IN_SIZE];

	if (w->plan->gives & PCTL_MODEL_GIVES_PENALTIES) {
		text_job(w, "penalised", OP_PENALTY,
			 text_print(in, sizeof(in),
				    "logits = \"%s\"; history = \"$history\"; count = \"$seen\"; "
				    "repetition = \"$repetition\"; presence = \"$presence\"; "
				    "frequency = \"$frequency\";",
				    x),
			 NULL);
		x = "penalised.y";
	}
	if (w->plan->gives & PCTL_MODEL_GIVES_GREEDY)
		text_job(w, "draw", OP_ARGMAX, text_print(in, sizeof(in), "x = \"%s\";", x),
			 "axis = 1;");
	else
		text_job(w, "draw", OP_SAMPLE,
			 text_print(in, sizeof(in),
				    "logits = \"%s\"; temperature = \"$temperature\"; top_k = "
				    "\"$top_k\"; top_p = \"$top_p\"; min_p = \"$min_p\"; key = "
				    "\"$key\"; position = \"$position\";",
				    x),
			 NULL);
	pctl_str_addf(outputs, "token = \"%s\";\n", token);
	if (w->plan->gives & PCTL_MODEL_GIVES_LOGPROBS)
		told(w, x, token, outputs);
}
