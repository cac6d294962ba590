/* What a generation was, as its maker signs it: the question (model, prompt, sampling) and the answer (tokens, and the CID of all logits that they were
 * chosen from). Whoever has the model can ask the question again, on any device, and must get the answer to the bit. */
#ifndef PIPECTL_MODEL_GENERATE_STATEMENT_H
#define PIPECTL_MODEL_GENERATE_STATEMENT_H

#include "foundation/record/record.h"
#include "model/generate/generate.h"
#include "model/generate/model_engine.h"
#include "runtime/cas/sign.h"

/* tokens: numbers with a blank between; why: PCTL_GENERATED_*; logits: of f32[tokens, n_vocab], before penalties. */
typedef struct pctl_statement_sequence {
	const char *tokens;
	uint32_t why;
	pctl_cid logits;
} pctl_statement_sequence;

/* What was added to the model; scale: what its own was multiplied with, as "%.9g" writes it. */
typedef struct pctl_statement_adapter {
	pctl_cid cid;
	char scale[PCTL_ADAPTER_NUMBER];
} pctl_statement_adapter;

#define PCTL_STATEMENT_BYTES_MAX (64u << 20)
#define PCTL_STATEMENT_NUMBER 24u /* bytes of a float, as "%.9g" writes it */

/*
 * model     the engine's model_cid
 * adapters  n_adapters of them, in their order
 * prompt    tokens, as those of sequences
 * device    selector and name, driver's files (resident.h): where it was made, which the answer does not depend on
 * evidence  how that device's word stands
 * signer    who signed, as hex; filled in by reading
 */
typedef struct pctl_statement {
	pctl_cid model;
	const char *prompt;
	uint32_t n_tokens, goes_on, top_k, n_sequences;
	uint64_t seed;
	char temperature[PCTL_STATEMENT_NUMBER], top_p[PCTL_STATEMENT_NUMBER],
		min_p[PCTL_STATEMENT_NUMBER], repetition[PCTL_STATEMENT_NUMBER],
		presence[PCTL_STATEMENT_NUMBER], frequency[PCTL_STATEMENT_NUMBER];
	pctl_statement_sequence *sequences;
	pctl_statement_adapter *adapters;
	uint32_t n_adapters, reserved;
	const char *device, *device_name;
	pctl_evidence evidence;
	char signer[PCTL_PUBLIC_KEY_TEXT];
} pctl_statement;

extern const pctl_record_type pctl_statement_type;

/* Of what was asked and what came of it; logits: a CID for each sequence. Texts lie in the arena. */
pctl_status pctl_statement_of(pctl_model_engine *e, const pctl_generate_options *o,
			      const pctl_generated *g, const pctl_cid *logits, pctl_arena *arena,
			      const pctl_call *call, pctl_statement *out);
/* Signed: as text, appended to *out, or as a file. */
pctl_status pctl_statement_sign(const pctl_statement *s, const pctl_signer *signer,
				const pctl_call *call, pctl_str_buf *out);
pctl_status pctl_statement_write(const pctl_statement *s, const char *path,
				 const pctl_signer *signer, const pctl_call *call);
/* PC6291 where the text, or the file, is no such statement; PC5012 where it is not as it was signed. name: for messages. */
pctl_status pctl_statement_parse(const char *name, const char *text, uint64_t n, pctl_arena *arena,
				 const pctl_call *call, pctl_statement *out);
pctl_status pctl_statement_read(const char *path, pctl_arena *arena, const pctl_call *call,
				pctl_statement *out);
/* The question of a statement; the prompt lies in the arena. PC6291 for numbers that are none. */
pctl_status pctl_statement_question(const pctl_statement *s, const char *name, pctl_arena *arena,
				    const pctl_call *call, pctl_generate_options *out);
/* PC6292 where the question was asked of another model, or with other adapters. */
pctl_status pctl_statement_compare_model(const pctl_statement *said, const pctl_statement *found,
					 const pctl_call *call);
/* What the engine is with adapter number `adapter` of rows: model and adapters, in *out; the rest is left alone. */
pctl_status pctl_statement_model(pctl_model_engine *e, uint32_t adapter, pctl_arena *arena,
				 const pctl_call *call, pctl_statement *out);
/* PC6292 at the first difference: another model, the sequence and the token, or logits. */
pctl_status pctl_statement_compare(const pctl_statement *said, const pctl_statement *found,
				   const pctl_call *call);

#endif
