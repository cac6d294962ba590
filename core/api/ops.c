/* The ops of an installation, by name, and what files of tensors say of themselves; see pipectl.h. */
#include <string.h>

#include "api/private.h"
#include "runtime/exec/source.h"
#include "runtime/graph/library.h"
#include "runtime/graph/ops.h"
#include "runtime/graph/type.h"

pctl_status pipectl_op_count(pipectl *p, uint32_t *n)
{
	pctl_status status = pipectl_begin(p, NULL, NULL);
	const pctl_op_source *ops;

	*n = 0;
	if (status == PCTL_OK)
		status = pctl_installation_ops(&p->host, &p->call);
	if (status == PCTL_OK) {
		ops = pctl_op_library_source(p->host.library);
		*n = ops->count(ops->ctx);
	}
	return pipectl_end(p, status);
}

static const char *const *names_of(pipectl *p, const void *first, size_t step, uint32_t n)
{
	const char **names = pctl_arena_array(p->host.arena, n + 1u, sizeof(*names));

	/* The name is the first member of a port and of an attribute. */
	for (uint32_t i = 0; names != NULL && i < n; i++)
		memcpy(&names[i], (const char *)first + i * step, sizeof(names[i]));
	return names;
}

static pctl_status describe(pipectl *p, uint32_t i, pipectl_op *out)
{
	const pctl_op_source *ops = pctl_op_library_source(p->host.library);
	pipectl_op op = {.head = PCTL_HEAD(pipectl_op)};
	pctl_op_ref ref;

	if (i >= ops->count(ops->ctx))
		return pipectl_misused(&p->call, "there is no such op");
	ops->at(ops->ctx, i, &ref);
	op.name = ref.desc->name;
	op.about = ref.desc->doc;
	op.version = ref.desc->version;
	op.n_in = ref.desc->n_in;
	op.n_out = ref.desc->n_out;
	op.n_attr = ref.desc->n_attr;
	op.in = names_of(p, ref.desc->in, sizeof(*ref.desc->in), op.n_in);
	op.out = names_of(p, ref.desc->out, sizeof(*ref.desc->out), op.n_out);
	op.attr = names_of(p, ref.desc->attr, sizeof(*ref.desc->attr), op.n_attr);
	if (op.in == NULL || op.out == NULL || op.attr == NULL)
		return pctl_no_memory(&p->call, "an op");
	return PIPECTL_GIVE(&p->call, out, &op);
}

pctl_status pipectl_op_at(pipectl *p, uint32_t i, pipectl_op *out)
{
	pctl_status status = pipectl_begin(p, NULL, NULL);

	if (status == PCTL_OK)
		status = pctl_installation_ops(&p->host, &p->call);
	return pipectl_end(p, status == PCTL_OK ? describe(p, i, out) : status);
}

static pctl_status look(pipectl *p, const char *source, pipectl_tensor *out)
{
	pipectl_tensor t = {.head = PCTL_HEAD(pipectl_tensor)};
	pctl_tensor_type type;
	pctl_status status = pctl_source_peek(source, &p->call, &type);

	if (status != PCTL_OK)
		return status;
	if (type.dtype == PCTL_SCALAR_NONE)
		return pctl_refuse(&p->call, PC4212_TENSOR_TYPE,
				   "%s: the name is not that of a file of tensors", source);
	t.dtype = pctl_dtype_name(type.dtype);
	t.rank = type.rank;
	for (uint32_t i = 0; i < type.rank && i < PIPECTL_RANK_MAX; i++)
		t.dims[i] = type.dim[i];
	return PIPECTL_GIVE(&p->call, out, &t);
}

pctl_status pipectl_tensor_look(pipectl *p, const char *source, pipectl_tensor *out)
{
	pctl_status status = pipectl_begin(p, NULL, NULL);

	return pipectl_end(p, status == PCTL_OK ? look(p, source, out) : status);
}
