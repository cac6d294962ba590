/* How rope is scaled, by config.json. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "model/file/config_private.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* As all_keys, of the object that says how rope is scaled. */
static void inner_keys(const config_reader *r, const cJSON *of)
{
	static const char *const known[] = {"rope_type",	"type",
					    "rope_theta",	"partial_rotary_factor",
					    "factor",		"low_freq_factor",
					    "high_freq_factor", "original_max_position_embeddings",
					    "attention_factor", "beta_fast",
					    "beta_slow",	"mscale",
					    "mscale_all_dim",	"long_factor",
					    "short_factor",	"truncate",
					    "finetuned"};
	const cJSON *j;
	char text[64];

	if (!config_few(r->f, PC6280_MODEL_FILE, of))
		return;
	cJSON_ArrayForEach(j, of)
	{
		if (cJSON_GetObjectItemCaseSensitive(of, j->string) != j)
			model_fault(r->f, PC6280_MODEL_FILE, NULL,
				    "rope's scaling: \"%.100s\" is given twice", j->string);
		else if (!config_among(j->string, known, COUNT(known)))
			model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
				    "rope's scaling: nothing is known of the key \"%.100s\" (%s)",
				    j->string, config_shown(j, text));
		else if (strcmp(j->string, "truncate") == 0 && !cJSON_IsTrue(j))
			model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
				    "rope's scaling: \"truncate\" is %s; known is true",
				    config_shown(j, text));
	}
}

/* The factor of attention is said, or follows from two numbers, or from the factor alone. */
static void yarn(const config_reader *r, const cJSON *j)
{
	pctl_model_rope *p = &r->m->shape.rope;
	const double mscale = config_number(r, j, "mscale", 0),
		     all = config_number(r, j, "mscale_all_dim", 0);
	const double plain = pctl_model_yarn_magnitude(p->factor) - 1;

	p->scaling = PCTL_MODEL_SCALING_YARN;
	p->low = config_number(r, j, "beta_slow", 1);
	p->high = config_number(r, j, "beta_fast", 32);
	p->n_original =
		config_integer(r, j, "original_max_position_embeddings", r->m->shape.n_context);
	p->magnitude = config_number(
		r, j, "attention_factor",
		mscale != 0 && all != 0 ? (1 + mscale * plain) / (1 + all * plain) : 1 + plain);
}

static const float *factors(const config_reader *r, const cJSON *of, const char *name)
{
	const cJSON *j = config_item(of, name), *v;
	float *out;
	uint64_t n = 0;

	if (!cJSON_IsArray(j)) {
		model_fault(r->f, PC6282_MODEL_KEY, NULL, "rope's scaling: \"%s\" is no list",
			    name);
		return NULL;
	}
	out = model_factors(r->m, name, (uint64_t)cJSON_GetArraySize(j), r->f);
	cJSON_ArrayForEach(v, j)
	{
		if (out == NULL || !cJSON_IsNumber(v))
			break;
		out[n++] = (float)v->valuedouble;
	}
	if (out != NULL && n != r->m->shape.rope.dims / 2)
		model_fault(r->f, PC6282_MODEL_KEY, NULL,
			    "rope's scaling: element %" PRIu64 " of \"%s\" is no number", n, name);
	return out;
}

/* The context it was trained with stands beside the context, or within. That the factor is their ratio follows. */
static void longrope(const config_reader *r, const cJSON *j)
{
	static const char *const others[] = {"low_freq_factor", "high_freq_factor",
					     "beta_fast",	"beta_slow",
					     "mscale",		"mscale_all_dim"};
	static const char original[] = "original_max_position_embeddings";
	pctl_model_rope *p = &r->m->shape.rope;
	const uint64_t n = r->m->shape.n_context;
	double ratio;

	p->scaling = PCTL_MODEL_SCALING_LONGROPE;
	p->far_factors = factors(r, j, "long_factor");
	p->near_factors = factors(r, j, "short_factor");
	p->n_original = config_integer(r, config_item(j, original) != NULL ? j : r->json, original,
				       UINT64_MAX);
	if (config_item(j, original) != NULL && config_item(r->json, original) != NULL &&
	    config_integer(r, r->json, original, 0) != p->n_original)
		model_fault(r->f, PC6282_MODEL_KEY, NULL, "\"%s\" is given twice, as two numbers",
			    original);
	for (size_t i = 0; i < COUNT(others); i++)
		if (config_item(j, others[i]) != NULL)
			model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
				    "rope's scaling: longrope has no \"%s\"", others[i]);
	ratio = p->n_original == 0 ? 0 : (double)n / (double)p->n_original;
	if (config_number(r, j, "factor", ratio) != ratio)
		model_fault(r->f, PC6282_MODEL_KEY, NULL,
			    "rope's scaling: \"factor\" is another than the context's %" PRIu64
			    " by %" PRIu64,
			    n, p->n_original);
	p->factor = 1;
	p->magnitude = config_number(r, j, "attention_factor",
				     pctl_model_longrope_magnitude(n, p->n_original));
}

static void scaling(const config_reader *r, const cJSON *j)
{
	pctl_model_rope *p = &r->m->shape.rope;
	const cJSON *type = config_item(j, "rope_type") != NULL ? config_item(j, "rope_type")
								: config_item(j, "type");
	const char *name = cJSON_IsString(type) ? type->valuestring : NULL;

	p->base = config_number(r, j, "rope_theta", p->base);
	if (name == NULL) {
		model_fault(r->f, PC6282_MODEL_KEY, NULL, "rope's scaling has no \"rope_type\"");
		return;
	}
	inner_keys(r, j);
	if (strcmp(name, "longrope") == 0 || strcmp(name, "su") == 0) { /* its first name */
		longrope(r, j);
		return;
	}
	if (config_item(j, "long_factor") != NULL || config_item(j, "short_factor") != NULL)
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "rope's scaling \"%.100s\" has no factors of pairs", name);
	if (strcmp(name, "default") == 0)
		return;
	p->factor = config_number(r, j, "factor", (double)NAN);
	if (strcmp(name, "linear") == 0) {
		p->scaling = PCTL_MODEL_SCALING_LINEAR;
	} else if (strcmp(name, "llama3") == 0) {
		p->scaling = PCTL_MODEL_SCALING_LLAMA3;
		p->low = config_number(r, j, "low_freq_factor", (double)NAN);
		p->high = config_number(r, j, "high_freq_factor", (double)NAN);
		p->n_original =
			config_integer(r, j, "original_max_position_embeddings", UINT64_MAX);
	} else if (strcmp(name, "yarn") == 0) {
		yarn(r, j);
	} else if (strcmp(name, "dynamic") == 0) {
		p->scaling = PCTL_MODEL_SCALING_DYNAMIC;
	} else {
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "rope's scaling \"%.100s\" is unknown; known are default, linear, "
			    "llama3, yarn, dynamic and longrope",
			    name);
	}
}

/* How much of a head is turned, beside the scaling or within: the whole part of the product, as transformers takes it. Of the families
 * here phi3 alone computes with it; others' code ends there. */
static void turned(const config_reader *r, const cJSON *within)
{
	static const char name[] = "partial_rotary_factor";
	pctl_model_shape *s = &r->m->shape;
	const double outer = config_number(r, r->json, name, 1),
		     part = within == NULL ? outer : config_number(r, within, name, outer);

	if (config_item(r->json, name) != NULL && outer != part)
		model_fault(r->f, PC6282_MODEL_KEY, NULL, "\"%s\" is given twice, as two numbers",
			    name);
	if (!(part > 0) || part > 1)
		model_fault(r->f, PC6282_MODEL_KEY, NULL,
			    "\"%s\" is %g, which is no part of a head", name, part);
	else if (part != 1 && s->family != PCTL_MODEL_PHI3)
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "\"%s\" is %g: this family turns whole heads", name, part);
	else
		s->rope.dims = (uint64_t)((double)s->head_dim * part);
}

void config_rope(const config_reader *r)
{
	const cJSON *old = config_item(r->json, "rope_scaling"),
		    *new = config_item(r->json, "rope_parameters");

	r->m->shape.rope.base = config_number(r, r->json, "rope_theta", 10000);
	r->m->shape.rope.dims = r->m->shape.head_dim;
	if ((old != NULL && !cJSON_IsObject(old)) || (new != NULL && !cJSON_IsObject(new)) ||
	    (old != NULL && new != NULL))
		model_fault(r->f, PC6282_MODEL_KEY, NULL,
			    "\"rope_scaling\" or \"rope_parameters\" is no object, or both are "
			    "given");
	else {
		turned(r, old != NULL ? old : new);
		if (old != NULL || new != NULL)
			scaling(r, old != NULL ? old : new);
	}
	/* Files of phi3 say it of models that are not stretched, too. */
	if (config_item(r->json, "original_max_position_embeddings") != NULL &&
	    r->m->shape.family != PCTL_MODEL_PHI3 &&
	    r->m->shape.rope.scaling != PCTL_MODEL_SCALING_LONGROPE)
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "\"original_max_position_embeddings\" without longrope");
}
