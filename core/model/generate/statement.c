/* Signed statements of generations; see statement.h. */
#include "model/generate/statement.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/base/utf8.h"
#include "foundation/diag/diag.h"
#include "runtime/cas/codings.h"

#define SEQUENCES_MAX 1024u

static const char *const why_words[] = {[PCTL_GENERATED_LENGTH] = "length",
					[PCTL_GENERATED_END] = "end",
					[PCTL_GENERATED_STOPPED] = "stopped",
					[PCTL_GENERATED_CONTEXT] = "context"};
#define SEQUENCE(kind, key, member, ...) \
	PCTL_RECORD_FIELD(kind, key, pctl_statement_sequence, member, __VA_ARGS__)
static const pctl_record_field sequence_fields[] = {
	SEQUENCE(TEXT, "tokens", tokens, .means = "the tokens that were made, by their numbers"),
	SEQUENCE(WORD, "ended_by", why, PCTL_RECORD_WORDS(why_words), .means = "what ended it"),
	SEQUENCE(CODED, "logits", logits, .coding = &pctl_cid_coding,
		 .means = "of f32[tokens, vocabulary], what each token was chosen from, before "
			  "penalties"),
};
static const pctl_record_shape sequence_shape =
	PCTL_RECORD_SHAPE(sequence_fields, PCTL_RECORD_BLOCK, pctl_statement_sequence);

#define ADAPTER(kind, key, member, ...) \
	PCTL_RECORD_FIELD(kind, key, pctl_statement_adapter, member, __VA_ARGS__)
static const pctl_record_field adapter_fields[] = {
	ADAPTER(CODED, "adapter", cid, .coding = &pctl_cid_coding,
		.means = "of how it is used and the CIDs of its tensors"),
	PCTL_RECORD_SIZED(CHARS, "scale", pctl_statement_adapter, scale, .least = 1,
			  .means = "what its own scale is multiplied with"),
};
static const pctl_record_shape adapter_shape =
	PCTL_RECORD_SHAPE(adapter_fields, PCTL_RECORD_INLINE, pctl_statement_adapter);

#define FIELD(kind, key, member, ...) \
	PCTL_RECORD_FIELD(kind, key, pctl_statement, member, __VA_ARGS__)
#define NUMBER(key, member, text) \
	PCTL_RECORD_SIZED(CHARS, key, pctl_statement, member, .least = 1, .means = text)
static const pctl_record_field fields[] = {
	{.key = "semantics",
	 .kind = PCTL_RECORD_CONSTANT,
	 .constant = PCTL_SEMANTICS_VERSION,
	 .means = "version of what programs mean"},
	FIELD(CODED, "model", model, .coding = &pctl_cid_coding,
	      .means = "of the model's description and the CIDs of its tensors"),
	FIELD(LIST, "adapters", adapters, .flags = PCTL_RECORD_OPTIONAL,
	      .n_at = offsetof(pctl_statement, n_adapters), .bound = PCTL_ADAPTERS_MAX,
	      .of = &adapter_shape,
	      .means = "what was added to it, in this order; where there is nothing, it is absent"),
	FIELD(TEXT, "prompt", prompt, .means = "its tokens, by their numbers"),
	FIELD(U32, "tokens", n_tokens, .bound = UINT32_MAX,
	      .means = "how many were asked for, at most"),
	FIELD(BOOL, "goes_on", goes_on, .means = "behind a token that ends the text, too"),
	FIELD(U64, "seed", seed, .bound = UINT64_MAX,
	      .means = "of what is drawn; sequence i draws by stream i"),
	NUMBER("temperature", temperature,
	       "what logits are divided by; 0: the most probable token"),
	FIELD(U32, "top_k", top_k, .bound = UINT32_MAX, .means = "0: all"),
	NUMBER("top_p", top_p, "1: all"),
	NUMBER("min_p", min_p, "0: all"),
	NUMBER("repetition_penalty", repetition, "1: none"),
	NUMBER("presence_penalty", presence, "0: none"),
	NUMBER("frequency_penalty", frequency, "0: none"),
	FIELD(LIST, "sequences", sequences, .n_at = offsetof(pctl_statement, n_sequences),
	      .least = 1, .bound = SEQUENCES_MAX, .of = &sequence_shape,
	      .means = "what came of it"),
	FIELD(TEXT, "device", device, .means = "where it was made, by its selector"),
	FIELD(TEXT, "device_name", device_name, .means = "as its driver calls it"),
	FIELD(CODED, "evidence", evidence, .coding = &pctl_evidence_coding,
	      .means = "how that device's word stands"),
};
static const pctl_record_shape shape = PCTL_RECORD_SHAPE(fields, PCTL_RECORD_BLOCK, pctl_statement);
const pctl_record_type pctl_statement_type = {
	.group = "generation",
	.opening = "// What a language model went on with, made by `pipectl generate --receipt`; "
		   "`pipectl generate --replay` asks again.\n",
	.shape = &shape,
	.quoting = PCTL_RECORD_HEXES,
	.form = PC6291_GENERATION_FORM,
	.contradicts = PC6291_GENERATION_FORM,
	.title = "Statement of a generation",
	.where = "the file of `generate --receipt`; signed",
};

/* ---- numbers ---- */

static const char *numbers(const uint32_t *ids, uint32_t n, pctl_arena *arena)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	const char *out;

	for (uint32_t i = 0; i < n; i++)
		pctl_str_addf(&s, "%s%" PRIu32, i ? " " : "", ids[i]);
	out = s.failed ? NULL : pctl_arena_printf(arena, "%s", s.data == NULL ? "" : s.data);
	pctl_str_drop(&s);
	return out;
}

/* Of a text of at most as many numbers as it has bytes, written as `numbers` writes them. 0: it is none. */
static int parse_numbers(const char *text, pctl_arena *arena, uint32_t **out, uint32_t *n)
{
	const size_t length = strlen(text);
	const char *whole = text;

	*n = 0;
	*out = pctl_arena_alloc(arena, (length + 1) * sizeof(**out));
	while (*out != NULL && *text != '\0') {
		const size_t digits = strcspn(text, " ");
		uint64_t v;

		if (digits == 0 || !pctl_num_parse_u64(text, digits, &v) || v > UINT32_MAX)
			return 0;
		(*out)[(*n)++] = (uint32_t)v;
		text += digits;
		if (*text == ' ' && *++text == '\0')
			return 0;
	}
	text = *out == NULL ? NULL : numbers(*out, *n, arena);
	return text != NULL && strcmp(text, whole) == 0;
}

/* Written as it would be here: one question has one text. */
static int parse_float(const char *text, float *out)
{
	char *end = NULL, same[PCTL_STATEMENT_NUMBER];
	const double v = pctl_num_parse_double(text, &end);

	*out = (float)v;
	pctl_num_print(same, sizeof(same), "%.9g", (double)*out);
	return *text != '\0' && *end == '\0' && v >= -1e6 && v <= 1e6 && strcmp(text, same) == 0;
}

/* ---- making, writing, reading ---- */

pctl_status pctl_statement_model(pctl_model_engine *e, uint32_t adapter, pctl_arena *arena,
				 const pctl_call *call, pctl_statement *out)
{
	const pctl_adapter_use *use;
	const pctl_cid *cid;

	(void)pctl_cid_parse(pctl_model_engine_of(e)->model_cid, &out->model);
	out->n_adapters = 0;
	out->adapters = pctl_arena_array(arena, PCTL_ADAPTERS_MAX, sizeof(*out->adapters));
	if (out->adapters == NULL)
		return pctl_no_memory(call, "a statement");
	for (uint32_t i = 0; (use = pctl_model_engine_use(e, i, &cid)) != NULL; i++) {
		pctl_statement_adapter *a = &out->adapters[out->n_adapters];

		if (use->set != adapter)
			continue;
		a->cid = *cid;
		pctl_num_print(a->scale, sizeof(a->scale), "%.9g", (double)use->by);
		out->n_adapters++;
	}
	return PCTL_OK;
}

pctl_status pctl_statement_of(pctl_model_engine *e, const pctl_generate_options *o,
			      const pctl_generated *g, const pctl_cid *logits, pctl_arena *arena,
			      const pctl_call *call, pctl_statement *out)
{
	const struct {
		char *to;
		double v;
	} reals[] = {{out->temperature, (double)o->sampling.temperature},
		     {out->top_p, (double)o->sampling.top_p},
		     {out->min_p, (double)o->sampling.min_p},
		     {out->repetition, (double)o->sampling.repetition_penalty},
		     {out->presence, (double)o->sampling.presence_penalty},
		     {out->frequency, (double)o->sampling.frequency_penalty}};
	pctl_model_engine_facts f;
	pctl_status status;

	pctl_model_engine_facts_of(e, &f);
	*out = (pctl_statement){.prompt = numbers(o->prompt, o->n_prompt, arena),
				.n_tokens = o->n_tokens,
				.goes_on = o->goes_on,
				.seed = o->sampling.seed,
				.top_k = o->sampling.top_k,
				.n_sequences = g->n_sequences,
				.device = f.device == NULL ? "" : f.device,
				.device_name = f.device_name == NULL ? "" : f.device_name,
				.evidence = f.evidence};
	status = pctl_statement_model(e, o->adapter, arena, call, out);
	if (status != PCTL_OK)
		return status;
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
		pctl_num_print(reals[i].to, PCTL_STATEMENT_NUMBER, "%.9g", reals[i].v);
	out->sequences = pctl_arena_alloc(arena, (g->n_sequences + 1ull) * sizeof(*out->sequences));
	for (uint32_t i = 0; out->sequences != NULL && i < g->n_sequences; i++)
		out->sequences[i] = (pctl_statement_sequence){
			numbers(g->sequences[i].tokens, g->sequences[i].n, arena),
			g->sequences[i].why, logits[i]};
	return pctl_arena_failed(arena) || out->prompt == NULL ? pctl_no_memory(call, "a statement")
							       : PCTL_OK;
}

pctl_status pctl_statement_sign(const pctl_statement *s, const pctl_signer *signer,
				const pctl_call *call, pctl_str_buf *out)
{
	const pctl_status status =
		pctl_record_put(&pctl_statement_type, s, out, "a statement", call);

	return status == PCTL_OK ? pctl_signer_seal(signer, out, call) : status;
}

pctl_status pctl_statement_write(const pctl_statement *s, const char *path,
				 const pctl_signer *signer, const pctl_call *call)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status = pctl_statement_sign(s, signer, call, &text);

	if (status == PCTL_OK)
		status = pctl_file_write(path, text.data, text.n, 1, call);
	pctl_str_drop(&text);
	return status;
}

/* What a stranger calls a device is shown to people: one line of text, and nothing that a terminal obeys. */
static pctl_status check_name(const char *path, const char *name, const pctl_call *call)
{
	const size_t n = strlen(name);

	return pctl_utf8_bad(name, n, PCTL_UTF8_PLAIN) == n
		       ? PCTL_OK
		       : pctl_refuse(call, PC6291_GENERATION_FORM,
				     "%s: the name of its device is no line of text", path);
}

pctl_status pctl_statement_parse(const char *name, const char *text, uint64_t n, pctl_arena *arena,
				 const pctl_call *call, pctl_statement *out)
{
	char signer[PCTL_PUBLIC_KEY_TEXT];
	size_t n_signed = 0;
	pctl_status status = pctl_sealed_check(name, text, n, call, &n_signed, signer);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_record_read_exact(&pctl_statement_type, name, text, n_signed, arena,
						call, out);
	if (status == PCTL_OK)
		status = check_name(name, out->device, call);
	if (status == PCTL_OK)
		status = check_name(name, out->device_name, call);
	if (status == PCTL_OK)
		memcpy(out->signer, signer, sizeof(signer));
	return status;
}

pctl_status pctl_statement_read(const char *path, pctl_arena *arena, const pctl_call *call,
				pctl_statement *out)
{
	char *text = NULL;
	uint64_t n = 0;
	pctl_status status = pctl_file_read(path, PCTL_STATEMENT_BYTES_MAX, call, &text, &n);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_statement_parse(path, text, n, arena, call, out);
	free(text);
	return status;
}

pctl_status pctl_statement_question(const pctl_statement *s, const char *name, pctl_arena *arena,
				    const pctl_call *call, pctl_generate_options *out)
{
	uint32_t *prompt;

	*out = (pctl_generate_options){
		.n_tokens = s->n_tokens, .goes_on = s->goes_on, .sequences = s->n_sequences};
	out->sampling.seed = s->seed;
	out->sampling.top_k = s->top_k;
	if (!parse_numbers(s->prompt, arena, &prompt, &out->n_prompt) ||
	    !parse_float(s->temperature, &out->sampling.temperature) ||
	    !parse_float(s->top_p, &out->sampling.top_p) ||
	    !parse_float(s->min_p, &out->sampling.min_p) ||
	    !parse_float(s->repetition, &out->sampling.repetition_penalty) ||
	    !parse_float(s->presence, &out->sampling.presence_penalty) ||
	    !parse_float(s->frequency, &out->sampling.frequency_penalty))
		return pctl_refuse(call, PC6291_GENERATION_FORM,
				   "%s: its prompt or a number of its sampling is no number", name);
	out->prompt = prompt;
	return PCTL_OK;
}

/* The number of the first token that differs. */
static uint32_t first_difference(const char *a, const char *b)
{
	uint32_t at = 0;

	while (*a != '\0' && *b != '\0') {
		const size_t m = strcspn(a, " "), n = strcspn(b, " ");

		if (m != n || memcmp(a, b, m) != 0)
			return at;
		a += m + (a[m] == ' ');
		b += n + (b[n] == ' ');
		at++;
	}
	return at;
}

pctl_status pctl_statement_compare_model(const pctl_statement *said, const pctl_statement *found,
					 const pctl_call *call)
{
	char a[PCTL_CID_TEXT_SIZE], b[PCTL_CID_TEXT_SIZE];

	if (pctl_cid_compare(&said->model, &found->model) != 0)
		return pctl_refuse(call, PC6292_GENERATION_DIFFERS,
				   "the statement is of model %s, this one is %s",
				   pctl_cid_format(&said->model, a),
				   pctl_cid_format(&found->model, b));
	if (said->n_adapters != found->n_adapters)
		return pctl_refuse_at(call, PC6292_GENERATION_DIFFERS, NULL,
				      "the statement's `adapters` are their CIDs, in their order",
				      "the statement is of %" PRIu32 " adapters, %" PRIu32
				      " are given",
				      said->n_adapters, found->n_adapters);
	for (uint32_t i = 0; i < said->n_adapters; i++) {
		const pctl_statement_adapter *x = &said->adapters[i], *y = &found->adapters[i];

		if (pctl_cid_compare(&x->cid, &y->cid) != 0)
			return pctl_refuse(
				call, PC6292_GENERATION_DIFFERS,
				"adapter %" PRIu32 " of the statement is %s, the one given %s", i,
				pctl_cid_format(&x->cid, a), pctl_cid_format(&y->cid, b));
		if (strcmp(x->scale, y->scale) != 0)
			return pctl_refuse(call, PC6292_GENERATION_DIFFERS,
					   "adapter %" PRIu32
					   " of the statement has the scale %s, the one given %s",
					   i, x->scale, y->scale);
	}
	return PCTL_OK;
}

pctl_status pctl_statement_compare(const pctl_statement *said, const pctl_statement *found,
				   const pctl_call *call)
{
	char a[PCTL_CID_TEXT_SIZE], b[PCTL_CID_TEXT_SIZE];
	const pctl_status status = pctl_statement_compare_model(said, found, call);

	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; i < said->n_sequences; i++) {
		const pctl_statement_sequence *x = &said->sequences[i], *y = &found->sequences[i];

		if (strcmp(x->tokens, y->tokens) != 0)
			return pctl_refuse(call, PC6292_GENERATION_DIFFERS,
					   "sequence %" PRIu32 ": token %" PRIu32
					   " is another one than was stated",
					   i, first_difference(x->tokens, y->tokens));
		if (x->why != y->why)
			return pctl_refuse(call, PC6292_GENERATION_DIFFERS,
					   "sequence %" PRIu32
					   " was ended by %s, not by %s as was stated",
					   i, why_words[y->why], why_words[x->why]);
		if (pctl_cid_compare(&x->logits, &y->logits) != 0)
			return pctl_refuse(
				call, PC6292_GENERATION_DIFFERS,
				"sequence %" PRIu32
				": the tokens agree, the logits are %s, not %s as was stated",
				i, pctl_cid_format(&y->logits, b), pctl_cid_format(&x->logits, a));
	}
	return PCTL_OK;
}
