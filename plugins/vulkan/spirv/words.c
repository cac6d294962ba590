/* Words, ids and basic blocks of a module under construction. Nothing here knows what an
 * instruction means. */
#include <stdlib.h>
#include <string.h>

#include "spirv/spirv.h"

void pctl_spv_fail(pctl_spv *e, pctl_status status)
{
	if (e->status == PCTL_OK)
		e->status = status;
}

uint32_t pctl_spv_id(pctl_spv *e)
{
	return e->bound++;
}

void pctl_spv_append(pctl_spv *e, pctl_spv_words *w, const uint32_t *words, uint32_t n)
{
	uint32_t capacity = w->capacity ? w->capacity : 256;
	uint32_t *grown;

	if (e->status != PCTL_OK || n == 0)
		return;
	if (n > (1u << 28) - w->n) {
		pctl_spv_fail(e, PCTL_E_NOMEM);
		return;
	}
	while (capacity < w->n + n)
		capacity *= 2;
	if (capacity != w->capacity) {
		grown = realloc(w->at, (size_t)capacity * sizeof(*grown));
		if (!grown) {
			pctl_spv_fail(e, PCTL_E_NOMEM);
			return;
		}
		w->at = grown;
		w->capacity = capacity;
	}
	memcpy(w->at + w->n, words, (size_t)n * sizeof(*words));
	w->n += n;
}

/* The first word of an instruction carries its length in 16 bits. */
static int head(pctl_spv *e, pctl_spv_words *w, SpvOp op, uint32_t n_words)
{
	const uint32_t first = n_words << SpvWordCountShift | (uint32_t)op;

	if (n_words > 0xffff) {
		pctl_spv_fail(e, PCTL_E_UNSUPPORTED);
		return 0;
	}
	pctl_spv_append(e, w, &first, 1);
	return 1;
}

void pctl_spv_inst(pctl_spv *e, pctl_spv_words *w, SpvOp op, const uint32_t *operands, uint32_t n)
{
	if (head(e, w, op, n + 1))
		pctl_spv_append(e, w, operands, n);
}

/* Code after a terminator cannot run, yet its instructions need a block to stand in. */
static void need_block(pctl_spv *e)
{
	if (!e->block)
		pctl_spv_label(e, pctl_spv_id(e));
}

uint32_t pctl_spv_value(pctl_spv *e, SpvOp op, uint32_t type, const uint32_t *operands, uint32_t n)
{
	uint32_t pair[2];

	need_block(e);
	pair[0] = type;
	pair[1] = pctl_spv_id(e);
	if (head(e, &e->body, op, n + 3)) {
		pctl_spv_append(e, &e->body, pair, 2);
		pctl_spv_append(e, &e->body, operands, n);
	}
	return pair[1];
}

void pctl_spv_effect(pctl_spv *e, SpvOp op, const uint32_t *operands, uint32_t n)
{
	need_block(e);
	pctl_spv_inst(e, &e->body, op, operands, n);
}

void pctl_spv_label(pctl_spv *e, uint32_t label)
{
	PCTL_SPV_PUT(e, &e->body, SpvOpLabel, label);
	e->block = label;
}

void pctl_spv_branch(pctl_spv *e, uint32_t label)
{
	if (!e->block)
		return;
	PCTL_SPV_PUT(e, &e->body, SpvOpBranch, label);
	e->block = 0;
}

void pctl_spv_branch_if(pctl_spv *e, uint32_t condition, uint32_t yes, uint32_t no, uint32_t merge)
{
	need_block(e);
	if (merge)
		PCTL_SPV_PUT(e, &e->body, SpvOpSelectionMerge, merge, SpvSelectionControlMaskNone);
	PCTL_SPV_PUT(e, &e->body, SpvOpBranchConditional, condition, yes, no);
	e->block = 0;
}

/* Bytes of a string four to a word, NUL included, the rest of the last word zero. */
int pctl_spv_string(pctl_spv *e, const char *s, uint32_t *words, uint32_t capacity, uint32_t *n)
{
	const size_t length = strlen(s);
	size_t i;

	*n = (uint32_t)(length / 4 + 1);
	if (*n > capacity) {
		pctl_spv_fail(e, PCTL_E_INTERNAL);
		return 0;
	}
	memset(words, 0, *n * sizeof(*words));
	for (i = 0; i < length; i++)
		words[i / 4] |= (uint32_t)(uint8_t)s[i] << (8 * (i % 4));
	return 1;
}
