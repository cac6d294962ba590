/* Finding an op by name and version over all libraries, and reading values of its attributes. */
#include "runtime/graph/ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "foundation/base/vec.h"

static pctl_status unknown_op(const pctl_op_source *s, const char *name, const pctl_pos *pos,
			      const pctl_call *call)
{
	PCTL_VEC(const char *) names = {NULL, 0, 0};
	pctl_str_buf hint = PCTL_STR_BUF_INIT;
	const char *nearest;
	pctl_status status;
	pctl_op_ref op;

	for (uint32_t i = 0; i < s->count(s->ctx); i++) {
		s->at(s->ctx, i, &op);
		(void)PCTL_VEC_PUSH(&names, op.desc->name);
	}
	nearest = pctl_str_nearest(name, names.items, names.n);
	if (nearest != NULL)
		pctl_str_addf(&hint, "did you mean \"%s\"? ", nearest);
	pctl_str_add(&hint, "`pipectl op list` shows all ops");
	status = pctl_refuse_at(call, PC4120_OP_UNKNOWN, pos, hint.data,
				"no op \"%s\" in %u loaded ops", name, names.n);
	pctl_str_drop(&hint);
	free(names.items);
	return status;
}

pctl_status pctl_op_find(const pctl_op_source *s, const char *name, uint32_t min, uint32_t max,
			 const pctl_pos *pos, const pctl_call *call, pctl_op_ref *out)
{
	uint32_t other_version = 0;
	pctl_op_ref op;

	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < s->count(s->ctx); i++) {
		s->at(s->ctx, i, &op);
		if (strcmp(op.desc->name, name) != 0)
			continue;
		if (max != 0 && (op.desc->version < min || op.desc->version > max)) {
			other_version = op.desc->version;
			continue;
		}
		if (out->desc != NULL && strcmp(out->plugin, op.plugin) != 0)
			return pctl_refuse_at(call, PC4122_OP_AMBIGUOUS, pos,
					      "disable one of the two libraries",
					      "op \"%s\" is defined by \"%s\" and by \"%s\"", name,
					      out->plugin, op.plugin);
		if (out->desc == NULL || op.desc->version > out->desc->version)
			*out = op;
	}
	if (out->desc != NULL)
		return PCTL_OK;
	if (other_version != 0 && min == max)
		return pctl_refuse_at(call, PC4121_OP_VERSION, pos, NULL,
				      "op \"%s\": version %u is asked for, version %u is loaded",
				      name, min, other_version);
	if (other_version != 0)
		return pctl_refuse_at(call, PC4121_OP_VERSION, pos, NULL,
				      "op \"%s\": a version from %u to %u is asked for, version %u "
				      "is loaded",
				      name, min, max, other_version);
	return unknown_op(s, name, pos, call);
}

const char *pctl_op_deprecated(const pctl_op_desc *d)
{
	return PCTL_HAS(d, pctl_op_desc, deprecated) && d->deprecated != NULL &&
			       d->deprecated[0] != '\0'
		       ? d->deprecated
		       : NULL;
}

int pctl_op_has_list(const pctl_op_desc *d)
{
	return d->n_in != 0 && (d->in[d->n_in - 1].flags & PCTL_PORT_LIST) != 0;
}

const pctl_port *pctl_op_input(const pctl_op_desc *d, uint32_t i)
{
	return &d->in[i < d->n_in ? i : d->n_in - 1];
}

int pctl_op_takes(const pctl_op_desc *d, uint32_t n)
{
	return pctl_op_has_list(d) ? n >= d->n_in && n <= PCTL_PORTS_MAX : n == d->n_in;
}

static pctl_status refuse_attr(const pctl_attr_desc *d, const char *op, const char *text,
			       const pctl_pos *pos, const pctl_call *call)
{
	static const char *const kinds[] = {"?", "an unsigned number", "a number", "a string",
					    "true or false"};

	if (d->kind == PCTL_ATTR_U64 && d->max != 0)
		return pctl_refuse_at(call, PC4112_ATTR_VALUE, pos, NULL,
				      "attribute \"%s\" of op \"%s\" wants a number from %" PRIu64
				      " to %" PRIu64 ", not \"%s\"",
				      d->name, op, d->min, d->max, text);
	return pctl_refuse_at(call, PC4112_ATTR_VALUE, pos, NULL,
			      "attribute \"%s\" of op \"%s\" wants %s, not \"%s\"", d->name, op,
			      d->kind <= PCTL_ATTR_BOOL ? kinds[d->kind] : "?", text);
}

pctl_status pctl_op_attr_read(const pctl_attr_desc *d, const char *op, const char *text,
			      const pctl_pos *pos, const pctl_call *call, pctl_attr *out)
{
	size_t n = strlen(text);
	int64_t i64;
	int good = 1;

	*out = (pctl_attr){d->name, text, 0};
	if (d->kind == PCTL_ATTR_U64) {
		good = pctl_num_parse_u64(text, n, &out->u64) && out->u64 >= d->min &&
		       (d->max == 0 || out->u64 <= d->max);
	} else if (d->kind == PCTL_ATTR_I64) {
		good = pctl_num_parse_i64(text, n, &i64) &&
		       ((d->min == 0 && d->max == 0) ||
			(i64 >= (int64_t)d->min && i64 <= (int64_t)d->max));
		out->u64 = (uint64_t)i64;
	} else if (d->kind == PCTL_ATTR_BOOL) {
		out->u64 = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
		good = out->u64 || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
	}
	return good ? PCTL_OK : refuse_attr(d, op, text, pos, call);
}
