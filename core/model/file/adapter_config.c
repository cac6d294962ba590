/* How an adapter is used, from adapter_config.json as PEFT writes it. JSON is read by cJSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "foundation/base/json_read.h"
#include "model/file/adapter_private.h"
#include "model/file/config_private.h"

#define ITEMS_MAX 4096u

/* Keys that are read below; that have one of some values (JSON without blanks, parted by blanks) or none, since others change what is computed; and
 * that change nothing. Any other key might. */
static const char *const read_keys[] = {
	"peft_type",  "task_type",	     "r",
	"lora_alpha", "target_modules",	     "use_rslora",
	"bias",	      "layers_to_transform", "layers_pattern",
};
static const struct {
	const char *name, *values;
} one_value[] = {
	{"use_dora", "false"},
	{"use_qalora", "false"},
	{"use_bdlora", "false"},
	{"lora_bias", "false"},
	{"fan_in_fan_out", "false"},
	{"modules_to_save", "[]"},
	{"rank_pattern", "{}"},
	{"alpha_pattern", "{}"},
	{"exclude_modules", "[]"},
	{"layer_replication", "[]"},
	{"target_parameters", "[]"},
	{"trainable_token_indices", "[] {}"},
	{"alora_invocation_tokens", "[]"},
	{"ensure_weight_tying", "false"},
	{"megatron_config", "{}"},
	{"corda_config", "{}"},
	{"loftq_config", "{}"},
	{"arrow_config", "{}"},
	/* Others begin with a part of the base's weights, which is not there any more. */
	{"init_lora_weights", "true false \"gaussian\" \"eva\" \"orthogonal\""},
};
static const char *const ignored[] = {
	"auto_mapping", "base_model_name_or_path", "eva_config",   "inference_mode",
	"lora_dropout", "megatron_core",	   "peft_version", "qalora_group_size",
	"revision",	"runtime_config",
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

typedef struct peft_reader {
	pctl_adapter *a;
	const cJSON *json;
	model_faults *f;
} peft_reader;

static void all_keys(const peft_reader *r)
{
	char text[64];
	const cJSON *j;

	if (!config_few(r->f, PC6294_ADAPTER_FILE, r->json))
		return;
	cJSON_ArrayForEach(j, r->json)
	{
		size_t row = 0;

		if (cJSON_GetObjectItemCaseSensitive(r->json, j->string) != j)
			model_fault(r->f, PC6294_ADAPTER_FILE, NULL, "\"%.100s\" is given twice",
				    j->string);
		while (row < COUNT(one_value) && strcmp(one_value[row].name, j->string) != 0)
			row++;
		if (row < COUNT(one_value) && !cJSON_IsNull(j) &&
		    !config_is_one_of(j, one_value[row].values))
			model_fault(r->f, PC6296_ADAPTER_UNSUPPORTED, NULL,
				    "\"%s\" is %s; known is %s", j->string, config_shown(j, text),
				    one_value[row].values);
		if (row < COUNT(one_value) ||
		    config_among(j->string, read_keys, COUNT(read_keys)) ||
		    config_among(j->string, ignored, COUNT(ignored)))
			continue;
		/* What a later PEFT may do and this adapter does not. */
		if (!cJSON_IsNull(j) && !cJSON_IsFalse(j))
			model_fault(r->f, PC6296_ADAPTER_UNSUPPORTED, NULL,
				    "nothing is known of the key \"%.100s\" (%s)", j->string,
				    config_shown(j, text));
	}
}

/* A text that has to be one of some, or may be missing. */
static void kind(const peft_reader *r, const char *name, const char *values, int needed)
{
	const cJSON *j = config_item(r->json, name);
	char text[64];

	if (j == NULL && needed)
		model_fault(r->f, PC6295_ADAPTER_KEY, NULL, "\"%s\" is missing", name);
	else if (j != NULL && !config_is_one_of(j, values))
		model_fault(r->f, PC6296_ADAPTER_UNSUPPORTED, NULL, "\"%s\" is %s; known is %s",
			    name, config_shown(j, text), values);
}

static double number(const peft_reader *r, const char *name)
{
	const cJSON *j = config_item(r->json, name);

	if (cJSON_IsNumber(j))
		return j->valuedouble;
	model_fault(r->f, PC6295_ADAPTER_KEY, NULL, "\"%s\" is %s", name,
		    j == NULL ? "missing" : "no number");
	return 1;
}

static void targets(const peft_reader *r)
{
	const cJSON *j = config_item(r->json, "target_modules"), *entry;
	pctl_adapter *a = r->a;

	if (cJSON_IsString(j) && strcmp(j->valuestring, "all-linear") == 0) {
		a->all_linear = 1;
	} else if (cJSON_IsString(j)) {
		adapter_pattern(a, j->valuestring, r->f);
	} else if (!cJSON_IsArray(j) || cJSON_GetArraySize(j) == 0 ||
		   cJSON_GetArraySize(j) > (int)ITEMS_MAX) {
		model_fault(
			r->f, PC6295_ADAPTER_KEY, NULL,
			j == NULL ? "\"target_modules\" is missing"
				  : "\"target_modules\" is neither a list of names nor a pattern");
	} else {
		a->targets = pctl_arena_array(a->arena, ITEMS_MAX, sizeof(*a->targets));
		cJSON_ArrayForEach(entry, j)
		{
			if (!cJSON_IsString(entry) || entry->valuestring[0] == '\0') {
				model_fault(r->f, PC6295_ADAPTER_KEY, NULL,
					    "entry %" PRIu32 " of \"target_modules\" is no name",
					    a->n_targets);
				return;
			}
			if (a->targets != NULL)
				a->targets[a->n_targets++] =
					pctl_arena_dup(a->arena, entry->valuestring);
		}
	}
}

/* One number, or several. */
static void layers(const peft_reader *r)
{
	const cJSON *j = config_item(r->json, "layers_to_transform");
	const cJSON *entry = cJSON_IsArray(j) ? j->child : j;
	pctl_adapter *a = r->a;

	if (j == NULL)
		return;
	a->layers = pctl_arena_array(a->arena, ITEMS_MAX, sizeof(*a->layers));
	for (; entry != NULL && a->layers != NULL; entry = entry->next) {
		if (!cJSON_IsNumber(entry) || !(entry->valuedouble >= 0) ||
		    !(entry->valuedouble < 65536) ||
		    (double)(uint64_t)entry->valuedouble != entry->valuedouble ||
		    a->n_layers == ITEMS_MAX) {
			model_fault(r->f, PC6295_ADAPTER_KEY, NULL,
				    "entry %" PRIu32
				    " of \"layers_to_transform\" is no number of a layer",
				    a->n_layers);
			return;
		}
		a->layers[a->n_layers++] = (uint64_t)entry->valuedouble;
		if (entry == j)
			return;
	}
}

static void describe(const peft_reader *r)
{
	pctl_adapter_facts *facts = &r->a->facts;
	const cJSON *rank_scaled = config_item(r->json, "use_rslora");
	double rank;

	kind(r, "peft_type", "\"LORA\"", 1);
	kind(r, "task_type", "\"CAUSAL_LM\"", 0);
	kind(r, "bias", "\"none\"", 0);
	kind(r, "layers_pattern", "\"layers\" [\"layers\"] \"\" []", 0);
	rank = number(r, "r");
	facts->alpha = number(r, "lora_alpha");
	if (!(rank >= 1 && rank <= PCTL_ADAPTER_RANK_MAX) || (double)(uint64_t)rank != rank)
		model_fault(r->f, PC6295_ADAPTER_KEY, NULL, "\"r\" is %g, none of 1 to %u", rank,
			    PCTL_ADAPTER_RANK_MAX);
	else
		facts->rank = (uint64_t)rank;
	if (rank_scaled != NULL && !cJSON_IsBool(rank_scaled))
		model_fault(r->f, PC6295_ADAPTER_KEY, NULL,
			    "\"use_rslora\" is neither true nor false");
	facts->rank_scaled = cJSON_IsTrue(rank_scaled);
	targets(r);
	layers(r);
}

void adapter_read_config(pctl_adapter *a, const char *text, uint64_t n, model_faults *f)
{
	size_t bad;
	const char *why;
	const int good = pctl_json_good(text, n, &bad, &why);
	cJSON *json = good ? cJSON_ParseWithLength(text, n) : NULL;
	const peft_reader r = {a, json, f};

	if (!good) {
		model_fault(f, PC6294_ADAPTER_FILE, NULL, "byte %zu: %s", bad, why);
	} else if (json == NULL) {
		f->status = pctl_no_memory(f->call, "a description");
	} else if (!cJSON_IsObject(json)) {
		model_fault(f, PC6294_ADAPTER_FILE, NULL, "byte 0: no JSON object");
	} else {
		all_keys(&r);
		describe(&r);
	}
	cJSON_Delete(json);
}
