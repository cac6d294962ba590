/* `completion at WORD...`: what may stand in place of the last word, from the table of verbs and from the installation. Shells
 * ask this at every completion, so their scripts (completion.c) hold no word of the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app.h"
#include "model/file/adapter.h"
#include "model/synth/synth.h"
#include "model/template/template.h"
#include "runtime/graph/pipeline.h"
#include "runtime/plugin/devices.h"
#include "shader_text.h"

/* Lines that are no candidates: the shell completes names of files, or of directories. */
#define FILES ":files"
#define DIRS ":dirs"

/* What stands before the word in question. */
typedef struct pctl_before {
	pctl_app *app;
	const pctl_verb *verb;
	const char *name;	   /* first half of a verb with sub-verbs */
	const pctl_option *wanted; /* whose value the word is */
	const char *file;	   /* first argument */
	uint32_t n_arguments;
	int only_arguments;
} pctl_before;

/* The word has to begin with `typed`; `kept` stands before every candidate ("--set=", "x="). */
typedef struct pctl_word {
	const char *kept;
	size_t n_kept;
	const char *typed;
} pctl_word;

static void offer(const pctl_word *w, const char *candidate, const char *about)
{
	if (strncmp(candidate, w->typed, strlen(w->typed)) != 0)
		return;
	printf("%.*s%s", (int)w->n_kept, w->kept, candidate);
	if (about != NULL && about[0] != '\0')
		printf("\t%.*s", (int)strcspn(about, "\n"), about);
	printf("\n");
}

static void offer_options(const pctl_word *w, const pctl_option *options)
{
	for (uint32_t i = 0; options != NULL && options[i].name != NULL; i++)
		offer(w, options[i].name, options[i].about);
}

static void offer_verbs(const pctl_word *w, const char *name)
{
	uint32_t n;
	const pctl_verb *verbs = pctl_verbs(&n);

	for (uint32_t i = 0; i < n; i++) {
		if (name != NULL && strcmp(verbs[i].name, name) == 0 && verbs[i].sub != NULL)
			offer(w, verbs[i].sub, verbs[i].about);
		else if (name == NULL && (i == 0 || strcmp(verbs[i].name, verbs[i - 1].name) != 0))
			offer(w, verbs[i].name, verbs[i].sub == NULL ? verbs[i].about : NULL);
	}
}

/* ---- what the installation knows ---------------------------------------------------------- */

static void offer_ops(pctl_app *app, const pctl_word *w)
{
	const pctl_op_source *ops;

	if (pctl_installation_ops(&app->host, app->call) != PCTL_OK)
		return;
	ops = pctl_op_library_source(app->host.library);
	for (uint32_t i = 0; i < ops->count(ops->ctx); i++) {
		pctl_op_ref op;

		ops->at(ops->ctx, i, &op);
		offer(w, op.desc->name, op.desc->doc);
	}
}

static void offer_codes(const pctl_word *w)
{
	char text[16];

	for (uint32_t i = 0; i < pctl_code_count(); i++) {
		snprintf(text, sizeof(text), "PC%04u", (unsigned)pctl_code_at(i));
		offer(w, text, pctl_code_summary(pctl_code_at(i)));
	}
}

static void offer_devices(pctl_app *app, const pctl_word *w)
{
	pctl_devices *list;

	if (pctl_installation_registry(&app->host, app->call) != PCTL_OK ||
	    pctl_devices_list(app->host.registry, NULL, 0, app->call, &list) != PCTL_OK)
		return;
	for (uint32_t i = 0; i < pctl_devices_count(list); i++) {
		const pctl_device_entry *e = pctl_devices_at(list, i);

		if (e->state == PCTL_DEVICE_USABLE)
			offer(w, e->selector, e->name);
	}
	pctl_devices_destroy(list);
}

static void offer_plugins(pctl_app *app, const pctl_word *w)
{
	if (pctl_installation_registry(&app->host, app->call) != PCTL_OK)
		return;
	for (uint32_t i = 0; i < pctl_registry_count(app->host.registry); i++) {
		const pctl_plugin_info *p = pctl_registry_at(app->host.registry, i);

		offer(w, p->id, p->about);
	}
}

static int offer_cid(void *ctx, const pctl_cid *cid, uint64_t n_bytes)
{
	char text[PCTL_CID_TEXT_SIZE], about[32];

	snprintf(about, sizeof(about), "%llu bytes", (unsigned long long)n_bytes);
	offer(ctx, pctl_cid_format(cid, text), about);
	return 0;
}

static void offer_cids(pctl_app *app, const pctl_word *w)
{
	pctl_word word = *w;

	if (pctl_installation_store(&app->host, app->call) == PCTL_OK)
		(void)pctl_store_list(app->host.store, app->call, offer_cid, &word);
}

static void offer_shapes(const pctl_word *w)
{
	const pctl_synth_shape *s;

	for (uint32_t i = 0; (s = pctl_synth_shape_at(i)) != NULL; i++)
		offer(w, s->name, s->about);
}

static void offer_roles(const pctl_word *w)
{
	for (uint32_t i = 0; pctl_adapter_role(i) != PCTL_ROLES; i++)
		offer(w, pctl_model_role_name(pctl_adapter_role(i)), NULL);
}

static void offer_families(const pctl_word *w)
{
	for (uint32_t i = 0; pctl_template_at(i) != NULL; i++)
		offer(w, pctl_template_name(pctl_template_at(i)), NULL);
}

static void offer_types(const pctl_word *w, int weights)
{
	const pctl_dtype *t;

	for (uint32_t i = 0; (t = pctl_dtype_row(i)) != NULL; i++)
		if (!weights || pctl_model_dtype_good(t))
			offer(w, t->name, t->about);
}

/* What can be read again, by whom the line is for: no pipe and no terminal. */
static int is_file(const char *path)
{
	struct stat st;

	return path != NULL && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The shader on the line, whatever is wrong with it unsaid; NULL: there is none. */
static const pctl_program *shader_of(const pctl_before *b)
{
	pctl_kernel_source source = {.name = b->file};
	const pctl_program *p = NULL;
	char *text = NULL;

	if (!is_file(b->file) || b->verb == NULL || strcmp(b->verb->name, "shader") != 0 ||
	    pctl_installation_ops(&b->app->host, b->app->call) != PCTL_OK ||
	    pctl_app_shader_text(b->app, b->file, &text, &source.n_text) != PCTL_OK)
		return NULL;
	source.text = text;
	(void)pctl_kernels_compiled(b->app->host.kernels, &source, NULL, &p);
	free(text);
	return p;
}

/* Entry points; overrides and variables with the `=` that has to follow. */
static void offer_shader(const pctl_before *b, const pctl_word *w)
{
	const char *option = b->wanted->name;
	const pctl_program *p = shader_of(b);
	char text[160];

	for (uint32_t i = 0; p != NULL && strcmp(option, "--entry") == 0 && i < p->n_entries; i++)
		offer(w, pctl_str(p, p->entries[i].name), NULL);
	for (uint32_t i = 0; p != NULL && strcmp(option, "--override") == 0 && i < p->n_overrides;
	     i++) {
		snprintf(text, sizeof(text), "%s=", pctl_str(p, p->overrides[i].name));
		offer(w, text, NULL);
	}
	for (uint32_t i = 0; p != NULL && i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];

		if ((v->space != PCTL_SPACE_STORAGE && v->space != PCTL_SPACE_UNIFORM) ||
		    (strcmp(option, "--bind") != 0 &&
		     (strcmp(option, "--read") != 0 || !(v->access & PCTL_ACCESS_WRITE))))
			continue;
		snprintf(text, sizeof(text), "%s=", pctl_str(p, v->name));
		offer(w, text, NULL);
	}
}

/* Names of the pipeline on the line, or of sizes of a model, each with the `=` that has to follow. */
static void offer_names(const pctl_before *b, const pctl_word *w)
{
	const char *option = b->wanted->name, *size;
	pctl_pipeline *p;
	char text[160];

	for (uint32_t i = 0;
	     strncmp(b->wanted->value, "SIZE=", 5) == 0 && (size = pctl_synth_size_name(i)) != NULL;
	     i++) {
		snprintf(text, sizeof(text), "%s=", size);
		offer(w, text, NULL);
	}
	offer_shader(b, w);
	if (!is_file(b->file) || (b->verb != NULL && strcmp(b->verb->name, "shader") == 0) ||
	    pctl_pipeline_read(b->file, b->app->call, &p) != PCTL_OK)
		return;
	for (uint32_t i = 0; strcmp(option, "--in") == 0 && i < p->n_inputs; i++) {
		snprintf(text, sizeof(text), "%s=", p->inputs[i].name);
		offer(w, text, NULL);
	}
	for (uint32_t i = 0; strcmp(option, "--in") == 0 && i < p->n_sets; i++) {
		snprintf(text, sizeof(text), "%s=", p->sets[i].name);
		offer(w, text, NULL);
	}
	for (uint32_t i = 0; strcmp(option, "--out") == 0 && i < p->n_outputs; i++) {
		snprintf(text, sizeof(text), "%s=", p->outputs[i].port);
		offer(w, text, NULL);
	}
	for (uint32_t i = 0; strcmp(option, "--set") == 0 && i < p->n_params; i++) {
		snprintf(text, sizeof(text), "%s=", p->params[i].name);
		offer(w, text, NULL);
	}
	pctl_pipeline_destroy(p);
}

/* ---- what a value is ---------------------------------------------------------------------- */

/* One alternative of what the table says of a value, such as FILE in "FILE|CID". */
static void offer_kind(const pctl_before *b, const pctl_word *w, const char *kind, size_t n)
{
	char word[64];

	snprintf(word, sizeof(word), "%.*s", (int)(n < sizeof(word) ? n : sizeof(word) - 1), kind);
	if (strchr(word, '.') != NULL)
		*strstr(word, ".") = '\0'; /* "FILE..." */
	if (strncmp(word, "FILE[", 5) == 0)
		word[4] = '\0'; /* "FILE[=SCALE]" */
	if (strcmp(word, "FILE") == 0)
		puts(FILES);
	else if (strcmp(word, "DIR") == 0 || strcmp(word, "GITDIR") == 0)
		puts(DIRS);
	else if (strcmp(word, "CID") == 0)
		offer_cids(b->app, w);
	else if (strcmp(word, "OP") == 0)
		offer_ops(b->app, w);
	else if (strcmp(word, "FAMILY") == 0)
		offer_families(w);
	else if (strcmp(word, "CODE") == 0)
		offer_codes(w);
	else if (strcmp(word, "PLUGIN") == 0)
		offer_plugins(b->app, w);
	else if (strcmp(word, "DEVICE") == 0 || strcmp(word, "ID[:DEVICE]") == 0)
		offer_devices(b->app, w);
	else if (strcmp(word, "SHAPE") == 0)
		offer_shapes(w);
	else if (strcmp(word, "ROLE") == 0)
		offer_roles(w);
	else if (strcmp(word, "WEIGHTS") == 0 || strcmp(word, "TYPE") == 0)
		offer_types(w, word[0] == 'W');
	else if (strcmp(word, "VERB") == 0)
		offer_verbs(w, NULL);
	else if (strcmp(word, "SUB-VERB") == 0)
		offer_verbs(w, b->file);
	else if (word[0] != '\0' && word[strcspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ[:")] == '\0')
		offer(w, word, NULL);
	else if (strcmp(word, "sample=F") == 0)
		offer(w, "sample=", NULL);
}

static void offer_kinds(const pctl_before *b, const pctl_word *w, const char *kinds, size_t n)
{
	for (size_t at = 0; at < n; at++) {
		size_t k = strcspn(kinds + at, "|");

		k = k < n - at ? k : n - at;
		offer_kind(b, w, kinds + at, k);
		at += k;
	}
}

/* The value of an option. NAME=FILE: before the `=` names, behind it what the table says. A list with commas: its last item. */
static void offer_value(const pctl_before *b, pctl_word w)
{
	const char *value = b->wanted->value, *equals = strchr(value, '=');
	const int devices = strncmp(value, "A,B", 3) == 0, ops = strncmp(value, "GLOB[,", 6) == 0;
	const char *typed = strrchr(w.typed, devices || ops ? ',' : '=');

	if (devices || ops) {
		if (typed != NULL) {
			w.n_kept += (size_t)(typed + 1 - w.typed);
			w.typed = typed + 1;
		}
		(devices ? offer_devices : offer_ops)(b->app, &w);
	} else if (strcmp(b->wanted->name, "--entry") == 0) {
		offer_shader(b, &w);
	} else if (equals != NULL && equals[-1] >= 'A' && equals[-1] <= 'Z') {
		if (typed == NULL) {
			offer_names(b, &w);
			return;
		}
		w.n_kept += (size_t)(typed + 1 - w.typed);
		w.typed = typed + 1;
		offer_kinds(b, &w, equals + 1, strcspn(equals + 1, ":"));
	} else {
		offer_kinds(b, &w, value, strlen(value));
	}
}

/* The argument at the place that the word stands: the last one of the table's repeats. */
static void offer_argument(const pctl_before *b, const pctl_word *w)
{
	const char *text = b->verb->arguments, *last = NULL;
	size_t n_last = 0;

	for (uint32_t i = 0; i <= b->n_arguments; i++) {
		text += strspn(text, " [");
		if (*text == '\0')
			break;
		last = text;
		n_last = strcspn(text, " ]");
		if (memchr(text, '[', n_last) != NULL)
			n_last = strcspn(text, "[");
		text += strcspn(text, " ");
	}
	if (last != NULL && (b->n_arguments < b->verb->most))
		offer_kinds(b, w, last, n_last);
}

/* ---- the words before it ------------------------------------------------------------------ */

/* Options that say where the installation is hold for the completion, too. */
static pctl_status use_global(pctl_app *app, const pctl_option *option, const char *value)
{
	app->line.given[app->line.n_given++] = (pctl_given){option, value};
	pctl_installation_close(&app->host);
	memset(&app->host, 0, sizeof(app->host));
	return pctl_app_begin(app);
}

static pctl_status read_option(pctl_before *b, const char *word, const char *next, int *took_next)
{
	size_t n = strcspn(word, "=");
	const pctl_option *global = pctl_option_find(pctl_global_options, word, n),
			  *option = global;

	/* `certify --ops ..`: a verb that has sub-verbs and can do without. */
	if (option == NULL && b->verb == NULL && b->name != NULL)
		b->verb = pctl_verb_find(b->name, NULL);
	if (option == NULL && b->verb != NULL)
		option = pctl_option_find(b->verb->options, word, n);
	if (option == NULL || option->value == NULL)
		return PCTL_OK;
	if (word[n] == '\0' && next == NULL) {
		b->wanted = option;
		return PCTL_OK;
	}
	*took_next = word[n] == '\0';
	if (global == NULL || strcmp(global->name, "--color") == 0)
		return PCTL_OK;
	return use_global(b->app, global, *took_next ? next : word + n + 1);
}

static void read_plain(pctl_before *b, const char *word)
{
	if (b->verb == NULL && b->name != NULL && pctl_verb_find(b->name, word) != NULL) {
		b->verb = pctl_verb_find(b->name, word);
		return;
	}
	if (b->verb == NULL && b->name == NULL && pctl_verb_has_subs(word)) {
		b->name = word;
		return;
	}
	if (b->verb == NULL && b->name == NULL) {
		b->verb = pctl_verb_find(word, NULL);
		return;
	}
	if (b->verb == NULL)
		b->verb = pctl_verb_find(b->name, NULL);
	if (b->n_arguments++ == 0)
		b->file = word;
}

pctl_status pctl_verb_completion_at(pctl_app *app)
{
	const char *const *words = app->line.arguments;
	uint32_t n = app->line.n_arguments;
	pctl_before b = {.app = app};
	pctl_word w = {.kept = "", .typed = n == 0 ? "" : words[n - 1]};
	const char *equals = strchr(w.typed, '=');
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i + 1 < n; i++) {
		int took_next = 0;

		if (!b.only_arguments && strcmp(words[i], "--") == 0)
			b.only_arguments = 1;
		else if (!b.only_arguments && words[i][0] == '-' && words[i][1] != '\0')
			status = read_option(&b, words[i], i + 2 < n ? words[i + 1] : NULL,
					     &took_next);
		else
			read_plain(&b, words[i]);
		i += (uint32_t)took_next;
	}
	if (status != PCTL_OK)
		return status;
	if (b.wanted == NULL && !b.only_arguments && w.typed[0] == '-' && equals != NULL) {
		const char *whole = w.typed;
		size_t length = (size_t)(equals - whole);

		b.wanted = pctl_option_find(pctl_global_options, whole, length);
		if (b.wanted == NULL && b.verb == NULL && b.name != NULL)
			b.verb = pctl_verb_find(b.name, NULL);
		if (b.wanted == NULL && b.verb != NULL)
			b.wanted = pctl_option_find(b.verb->options, whole, length);
		if (b.wanted == NULL || b.wanted->value == NULL)
			return PCTL_OK;
		w = (pctl_word){whole, length + 1, equals + 1};
	} else {
		w.kept = w.typed;
	}
	if (b.wanted != NULL) {
		offer_value(&b, w);
	} else if (!b.only_arguments && w.typed[0] == '-') {
		if (b.verb == NULL && b.name != NULL)
			b.verb = pctl_verb_find(b.name, NULL);
		offer_options(&w, b.verb == NULL ? NULL : b.verb->options);
		offer_options(&w, pctl_global_options);
	} else if (b.verb == NULL) {
		offer_verbs(&w, b.name);
		b.verb = b.name == NULL ? NULL : pctl_verb_find(b.name, NULL);
		if (b.verb != NULL)
			offer_argument(&b, &w);
	} else {
		offer_argument(&b, &w);
	}
	return PCTL_OK;
}
