/* The data of a pipeline: parameters and inputs as they were given, put into the store. */
#include <stdlib.h>
#include <string.h>

#include "chain/home/pipeline_private.h"
#include "foundation/base/file.h"

#define LARGEST_INPUT (128u << 20)

pctl_status pctl_lowering_put(lowering *l, const void *data, uint64_t n, datum *out)
{
	char text[PCTL_CID_TEXT_SIZE];
	pctl_cid cid;
	pctl_status status = pctl_store_put(pctl_chain_store(l->c), data, n, l->call, &cid);

	if (status != PCTL_OK)
		return status;
	out->cid = pctl_arena_dup(l->arena, pctl_cid_format(&cid, text));
	out->n_bytes = n;
	return out->cid == NULL ? pctl_no_memory(l->call, "a pipeline") : PCTL_OK;
}

static pctl_status put_file(lowering *l, const char *path, datum *out)
{
	char *data = NULL;
	uint64_t n = 0;
	pctl_status status = pctl_file_read(path, LARGEST_INPUT, l->call, &data, &n);

	if (status == PCTL_OK)
		status = pctl_lowering_put(l, data, n, out);
	free(data);
	return status;
}

static pctl_status open_input(lowering *l, const pctl_pipe_input *in, const char *given, datum *out)
{
	const char *word = given != NULL ? given : in->cid;
	char *path;
	pctl_cid cid;
	pctl_status status;

	if (word != NULL && pctl_cid_parse(word, &cid)) {
		out->cid = word;
		if (!pctl_store_has(pctl_chain_store(l->c), &cid))
			return pctl_refuse_at(l->call, PC5816_JOB_MISSING, &in->pos, NULL,
					      "no %s in the store", word);
		return pctl_store_size(pctl_chain_store(l->c), &cid, l->call, &out->n_bytes);
	}
	if (given != NULL)
		return put_file(l, given, out);
	if (in->file == NULL)
		return pctl_lowering_cannot(l, &in->pos,
					    "this input has no data; name it with --in");
	path = in->file[0] == '/' ? strdup(in->file) : pctl_path_join(l->p->directory, in->file);
	status = path == NULL ? pctl_no_memory(l->call, "a pipeline") : put_file(l, path, out);
	free(path);
	return status;
}

/* What the size of an input says of its dimensions. */
static pctl_status learn(lowering *l, const pctl_pipe_input *in, const datum *d)
{
	pctl_tensor_type t;
	uint64_t known;

	if (in->type.any_shape)
		return PCTL_OK;
	if (pctl_type_from_bytes(&in->type, d->n_bytes, pctl_lowering_value, l, &t) != 1)
		return pctl_lowering_cannot(l, &in->pos, "the data does not have this type");
	for (uint32_t i = 0; i < in->type.rank; i++) {
		const char *name = in->type.dim[i].name;

		if (name == NULL)
			continue;
		if (!pctl_lowering_value(l, name, &known))
			l->dims[l->n_dims++] = (dimension){name, t.dim[i]};
		else if (known != t.dim[i])
			return pctl_lowering_cannot(l, &in->pos,
						    "the data has another size than the type says");
	}
	return PCTL_OK;
}

pctl_status pctl_lowering_open_inputs(lowering *l)
{
	const pctl_setting *given = l->o->ins;
	const uint32_t n = l->o->n_ins;
	pctl_status status = PCTL_OK;

	for (uint32_t k = 0; status == PCTL_OK && k < n; k++) {
		uint32_t i = 0;

		while (i < l->p->n_inputs && strcmp(l->p->inputs[i].name, given[k].name) != 0)
			i++;
		if (i == l->p->n_inputs)
			return pctl_refuse(l->call, PC10_USAGE,
					   "--in: the pipeline has no input \"%s\"", given[k].name);
	}
	for (uint32_t i = 0; status == PCTL_OK && i < l->p->n_inputs; i++) {
		const char *word = NULL;

		for (uint32_t k = 0; k < n; k++)
			if (strcmp(l->p->inputs[i].name, given[k].name) == 0)
				word = given[k].value;
		status = open_input(l, &l->p->inputs[i], word, &l->inputs[i]);
		if (status == PCTL_OK)
			status = learn(l, &l->p->inputs[i], &l->inputs[i]);
	}
	return status;
}

pctl_status pctl_lowering_set_params(lowering *l)
{
	const pctl_setting *given = l->o->sets;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < l->p->n_params; i++)
		l->param_text[i] = l->p->params[i].value.text;
	for (uint32_t k = 0; status == PCTL_OK && k < l->o->n_sets; k++) {
		uint32_t i = 0;

		while (i < l->p->n_params && strcmp(l->p->params[i].name, given[k].name) != 0)
			i++;
		if (i == l->p->n_params)
			return pctl_refuse(l->call, PC10_USAGE,
					   "--set: the pipeline has no parameter \"%s\"",
					   given[k].name);
		l->param_text[i] = given[k].value;
	}
	return status;
}
