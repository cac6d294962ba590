/* What the parts of `file` share. */
#ifndef PIPECTL_MODEL_FILE_PRIVATE_H
#define PIPECTL_MODEL_FILE_PRIVATE_H

#include <stdarg.h>

#include "foundation/base/arena.h"
#include "foundation/tensorfile/shards.h"
#include "model/file/model.h"

struct pctl_model {
	pctl_arena *arena;
	const char *path, *folder, *config; /* config: the path of config.json */
	pctl_tensor_shards *shards;
	pctl_model_layout layout;
	pctl_model_shape shape;
	pctl_model_tensor *tensors;
	uint64_t n;
};

/* Everything that is wrong, one diagnostic each: the status is that of the first. */
typedef struct model_faults {
	const pctl_call *call;
	const char *path;
	pctl_status status;
} model_faults;

void model_fault(model_faults *f, uint32_t code, const char *hint, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* "[2,3]" */
const char *model_shape_text(const pctl_tensor_type *t, char out[192]);
/* Fill m->shape from the keys of a GGUF file, or the texts of config.json. */
void model_read_gguf(pctl_model *m, model_faults *f);
void model_read_config(pctl_model *m, const char *text, uint64_t n, model_faults *f);
/* Longrope's factors, n of them for rope.dims / 2 pairs: in the model's arena; NULL: how many there are is wrong, and said. */
float *model_factors(pctl_model *m, const char *what, uint64_t n, model_faults *f);
/* What every description must be. */
void model_check_shape(const pctl_model_shape *s, model_faults *f);
/* Find the tensor of every role; what is missing, surplus or has another shape or type. */
void model_find_tensors(pctl_model *m, model_faults *f);
/* What follows from the family alone, before a file says more: scales, activation, norms. */
void model_family_defaults(pctl_model_shape *s);

#endif
