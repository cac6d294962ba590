/* The questions others ask of a policy. Every refusal names the setting and where its value came
 * from. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "compiler/analysis/analyse.h"
#include "foundation/base/num.h"
#include "pipectl/backend.h"
#include "pipectl/oplib.h"
#include "runtime/policy/private.h"

static const char *class_word(uint32_t c)
{
	return c >= PCTL_CLASS_INTEGER && c <= PCTL_CLASS_APPROXIMATE
		       ? pctl_policy_class_words[c - 1]
		       : "unknown";
}

uint32_t pctl_policy_class(const pctl_policy *p, uint32_t pipeline_class)
{
	return pipeline_class != 0 && pipeline_class < p->max_class ? pipeline_class : p->max_class;
}

pctl_status pctl_policy_class_allowed(const pctl_policy *p, uint32_t c, uint32_t pipeline_class,
				      const char *subject, const pctl_call *call)
{
	if (c <= pctl_policy_class(p, pipeline_class))
		return PCTL_OK;
	if (c > p->max_class)
		return pctl_refuse(call, PC4310_POLICY_CLASS,
				   "%s needs class %s, the policy allows %s (%s)", subject,
				   class_word(c), class_word(p->max_class),
				   pctl_policy_origin(p, "class"));
	return pctl_refuse(call, PC4310_POLICY_CLASS, "%s needs class %s, the pipeline allows %s",
			   subject, class_word(c), class_word(pipeline_class));
}

pctl_status pctl_policy_deprecated_allowed(const pctl_policy *p, const char *instead,
					   const char *op, const char *subject, const pctl_pos *pos,
					   const pctl_call *call)
{
	if (instead == NULL || p->deprecated)
		return PCTL_OK;
	return pctl_refuse_at(call, PC4319_POLICY_DEPRECATED, pos, instead,
			      "job \"%s\": op %s is superseded, the policy refuses such ops (%s)",
			      subject, op, pctl_policy_origin(p, "deprecated"));
}

pctl_status pctl_policy_order_allowed(const pctl_policy *p, uint32_t pipeline_class,
				      const char *subject, const pctl_pos *pos, const char *hint,
				      const pctl_call *call)
{
	const uint32_t most = pctl_policy_class(p, pipeline_class);

	if (most >= PCTL_CLASS_APPROXIMATE)
		return PCTL_OK;
	if (most == p->max_class)
		return pctl_refuse_at(call, PC4315_POLICY_ORDER, pos, hint,
				      "%s needs class approximate: the result depends on the order "
				      "of these atomic operations; the "
				      "policy allows %s (%s)",
				      subject, class_word(most), pctl_policy_origin(p, "class"));
	return pctl_refuse_at(call, PC4315_POLICY_ORDER, pos, hint,
			      "%s needs class approximate: the result depends on the order of "
			      "these atomic operations; the pipeline "
			      "allows %s",
			      subject, class_word(most));
}

static const struct {
	const char *word;
	uint32_t races;
} races_words[] = {{"proven", PCTL_RACES_PROVEN},
		   {"checked", PCTL_RACES_CHECKED},
		   {"trusted", PCTL_RACES_UNPROVEN}};

const char *pctl_policy_races_word(uint32_t races)
{
	for (uint32_t i = 0; i < 3; i++)
		if (races_words[i].races == races)
			return races_words[i].word;
	return "refuted";
}

int pctl_policy_races_of(const char *word, uint32_t *out)
{
	for (uint32_t i = 0; i < 3; i++) {
		*out = races_words[i].races;
		if (strcmp(races_words[i].word, word) == 0)
			return 1;
	}
	return 0;
}

uint32_t pctl_policy_race_verdict(const pctl_policy *p, uint32_t races)
{
	switch (races) {
	case PCTL_RACES_PROVEN:
		return PCTL_VERDICT_OK;
	case PCTL_RACES_CHECKED:
		return p->race == PCTL_RACE_PROVEN ? PCTL_VERDICT_REFUSE : PCTL_VERDICT_OK;
	case PCTL_RACES_UNPROVEN:
		return p->race == PCTL_RACE_TRUSTED   ? PCTL_VERDICT_WARN
		       : p->race == PCTL_RACE_CHECKED ? PCTL_VERDICT_CHECK
						      : PCTL_VERDICT_REFUSE;
	default:
		return PCTL_VERDICT_REFUSE;
	}
}

/* Say it at the first access, with the second and the job as notes. */
static pctl_status tell_race(const pctl_policy_race *what, uint32_t severity, const char *text,
			     const char *hint, const pctl_call *call)
{
	pctl_note notes[2];
	pctl_diag d = {.head = PCTL_HEAD(pctl_diag),
		       .code = PC4311_POLICY_RACE,
		       .severity = severity,
		       .subject = what->subject,
		       .message = text,
		       .hint = hint,
		       .notes = notes};

	if (what->place[0].file != NULL)
		d.pos = what->place[0];
	else if (what->pos != NULL)
		d.pos = *what->pos;
	if (what->place[0].file != NULL && what->place[1].file != NULL)
		notes[d.n_notes++] = (pctl_note){what->place[1], "the other access is here"};
	if (what->place[0].file != NULL && what->pos != NULL && what->pos->line != 0)
		notes[d.n_notes++] = (pctl_note){*what->pos, "the job is declared here"};
	return pctl_emit(call, &d);
}

pctl_status pctl_policy_race_allowed(const pctl_policy *p, const pctl_policy_race *what,
				     const pctl_call *call)
{
	static const char *const found[] = {"unproven", "proven", "refuted",
					    "only checked on these inputs"};
	const uint32_t verdict = pctl_policy_race_verdict(p, what->races);
	const char *state = what->races < 4 ? found[what->races] : "unknown";
	const char *detail = what->detail == NULL ? "" : what->detail;
	char text[512];

	if (verdict == PCTL_VERDICT_OK)
		return PCTL_OK;
	if (verdict == PCTL_VERDICT_WARN) {
		snprintf(text, sizeof(text),
			 "race freedom of %s is %s; it is trusted, so nothing of it is remembered",
			 what->subject, state);
		(void)tell_race(what, PCTL_SEVERITY_WARNING, text, NULL, call);
		return PCTL_OK;
	}
	if (verdict == PCTL_VERDICT_CHECK && what->gas != UINT64_MAX &&
	    (p->race_cost == 0 || what->gas <= p->race_cost))
		return PCTL_OK;
	if (verdict == PCTL_VERDICT_CHECK && what->gas != UINT64_MAX) {
		snprintf(text, sizeof(text),
			 "race freedom of %s is %s, and its %" PRIu64
			 " gas are more than the reference checks: race_cost is %" PRIu64 " (%s)",
			 what->subject, state, what->gas, p->race_cost,
			 pctl_policy_origin(p, "race_cost"));
		return tell_race(what, PCTL_SEVERITY_ERROR, text,
				 "write indices that can be proved, raise race_cost, or ask for "
				 "race = \"trusted\", whose results are never remembered",
				 call);
	}
	snprintf(text, sizeof(text), "race freedom of %s is %s%s%s, the policy asks for %s (%s)",
		 what->subject, state, detail[0] == '\0' ? "" : ": ", detail,
		 pctl_policy_race_words[p->race], pctl_policy_origin(p, "race"));
	return tell_race(what, PCTL_SEVERITY_ERROR, text, NULL, call);
}

/* ---- devices ------------------------------------------------------------------------------ */

static int kind_matches(const char *word, uint32_t kind)
{
	static const struct {
		const char *word;
		uint32_t kind;
	} kinds[] = {
		{"other", PCTL_DEVICE_OTHER},	    {"reference", PCTL_DEVICE_REFERENCE},
		{"cpu", PCTL_DEVICE_CPU},	    {"integrated", PCTL_DEVICE_INTEGRATED},
		{"discrete", PCTL_DEVICE_DISCRETE},
	};

	if (strcmp(word, "gpu") == 0)
		return kind == PCTL_DEVICE_INTEGRATED || kind == PCTL_DEVICE_DISCRETE;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(word, kinds[i].word) == 0)
			return kind == kinds[i].kind;
	return 0;
}

static int contains_ignoring_case(const char *text, const char *part)
{
	const size_t n = strlen(part);

	for (; *text != 0; text++)
		if (strncasecmp(text, part, n) == 0)
			return 1;
	return n == 0;
}

int pctl_policy_backend_match(const char *pattern, const pctl_policy_device *d)
{
	const size_t n = strcspn(pattern, ":/");
	const char *rest = pattern + n + (pattern[n] != 0);
	uint64_t index;

	if (strcmp(pattern, "*") == 0)
		return 1;
	if (strlen(d->backend) != n || strncmp(pattern, d->backend, n) != 0)
		return 0;
	if (pattern[n] == 0)
		return 1;
	if (pattern[n] == '/')
		return kind_matches(rest, d->kind);
	if (pctl_num_parse_u64(rest, strlen(rest), &index))
		return index == d->index;
	return contains_ignoring_case(d->name != NULL ? d->name : "", rest);
}

static const char *first_match(const char *const *patterns, uint32_t n, const pctl_policy_device *d,
			       uint32_t *at)
{
	for (uint32_t i = 0; i < n; i++) {
		if (pctl_policy_backend_match(patterns[i], d)) {
			*at = i;
			return patterns[i];
		}
	}
	*at = UINT32_MAX;
	return NULL;
}

uint32_t pctl_policy_races(uint32_t proof)
{
	return proof == PCTL_PROOF_PROVEN    ? PCTL_RACES_PROVEN
	       : proof == PCTL_PROOF_REFUTED ? PCTL_RACES_REFUTED
					     : PCTL_RACES_UNPROVEN;
}

pctl_status pctl_policy_backend_allowed(const pctl_policy *p, const pctl_policy_device *d,
					const pctl_call *call)
{
	const char *name = d->name != NULL ? d->name : "";
	uint32_t at;
	const char *forbidden = first_match(p->forbidden, p->n_forbidden, d, &at);

	if (forbidden != NULL)
		return pctl_refuse(call, PC4312_POLICY_BACKEND,
				   "%s:%" PRIu32 " (%s) is forbidden by \"%s\" (%s)", d->backend,
				   d->index, name, forbidden,
				   pctl_policy_origin(p, "backends.forbidden"));
	if (p->n_allowed > 0 && first_match(p->allowed, p->n_allowed, d, &at) == NULL)
		return pctl_refuse(call, PC4312_POLICY_BACKEND,
				   "%s:%" PRIu32 " (%s) is not among the allowed (%s)", d->backend,
				   d->index, name, pctl_policy_origin(p, "backends.allowed"));
	return PCTL_OK;
}

uint32_t pctl_policy_backend_rank(const pctl_policy *p, const pctl_policy_device *d)
{
	uint32_t at;

	(void)first_match(p->order, p->n_order, d, &at);
	return at;
}

/* ---- plugins, certificates, limits -------------------------------------------------------- */

/* The smaller of what is written in bytes and as a share of this machine's memory. */
static uint64_t worker_memory(const pctl_policy *p)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t share = (uint64_t)sysconf(_SC_PHYS_PAGES) / 100 * p->worker_share * page;

	return share == 0 || (p->worker.memory != 0 && p->worker.memory < share) ? p->worker.memory
										 : share;
}

void pctl_policy_plugin_rules(const pctl_policy *p, pctl_plugin_rules *out)
{
	*out = (pctl_plugin_rules){
		.allowed = p->plugins,
		.n_allowed = p->n_plugins,
		.pins = p->pins,
		.n_pins = p->n_pins,
		.only_workers = !p->in_process,
		.checks = p->verify_ppm != 0 || p->quorum_n >= 2,
		.only_confined = p->only_confined,
		.only_apart = p->only_apart,
		.limits = p->worker,
		.allowed_by = pctl_policy_origin(p, "plugins.allowed"),
		.pins_by = pctl_policy_origin(p, "plugins.sha256"),
		.confinement_by = pctl_policy_origin(p, "plugins.confinement"),
		.namespaces_by = pctl_policy_origin(p, "plugins.namespaces"),
		.isolation_by = pctl_policy_origin(p, "plugins.isolation"),
		.checks_by = pctl_policy_origin(p, p->verify_ppm != 0 ? "verify" : "quorum"),
	};
	out->limits.memory = worker_memory(p);
}

int pctl_policy_glob(const char *glob, const char *text)
{
	const char *star = NULL, *retry = NULL;

	while (*text != 0) {
		if (*glob == '*') {
			star = glob++;
			retry = text;
		} else if (*glob == *text) {
			glob++;
			text++;
		} else if (star != NULL) {
			glob = star + 1;
			text = ++retry;
		} else {
			return 0;
		}
	}
	while (*glob == '*')
		glob++;
	return *glob == 0;
}

uint32_t pctl_policy_certificate(const pctl_policy *p, const char *op)
{
	uint32_t level = 0;

	for (uint32_t i = 0; i < p->n_certs; i++)
		if (p->certs[i].level > level && pctl_policy_glob(p->certs[i].ops, op))
			level = p->certs[i].level;
	return level;
}

pctl_status pctl_policy_certificate_allowed(const pctl_policy *p, const char *op, uint32_t level,
					    const char *device, const char *hint,
					    const pctl_call *call)
{
	const uint32_t least = pctl_policy_certificate(p, op);

	if (level >= least || least > PCTL_POLICY_LEVEL_MAX)
		return PCTL_OK;
	return pctl_refuse_at(call, PC4316_POLICY_CERTIFICATE, NULL, hint,
			      "%s holds certificate level %s for %s, the policy asks for %s (%s)",
			      device, pctl_policy_level_words[level], op,
			      pctl_policy_level_words[least], pctl_policy_origin(p, "certificate"));
}

int pctl_policy_evidence_suffices(const pctl_policy *p, pctl_evidence e, uint32_t level)
{
	const int agreed = e.kind == PCTL_EVIDENCE_QUORUM && e.k > 1 && e.k >= p->quorum_k;

	if (p->memo == PCTL_MEMO_OFF || e.kind == PCTL_EVIDENCE_VERIFIED)
		return p->memo != PCTL_MEMO_OFF;
	if (p->verify != PCTL_VERIFY_NONE || p->quorum_k > 1)
		return agreed && p->verify == PCTL_VERIFY_NONE;
	return p->memo == PCTL_MEMO_ANY || agreed ||
	       (e.kind == PCTL_EVIDENCE_CERTIFIED && level != 0 && e.level >= level);
}

void pctl_policy_limit(pctl_policy *p, uint64_t memory_bytes, const char *memory_by,
		       uint64_t time_ms)
{
	const uint64_t least = pctl_policy_least(p->memory_bytes, memory_bytes);

	if (least != p->memory_bytes)
		p->memory_by = memory_by;
	p->memory_bytes = least;
	p->time_ms = pctl_policy_least(p->time_ms, time_ms);
}

pctl_status pctl_policy_memory_allowed(const pctl_policy *p, uint64_t bytes, const char *subject,
				       const pctl_call *call)
{
	if (p->memory_bytes == 0 || bytes <= p->memory_bytes)
		return PCTL_OK;
	return pctl_refuse(call, PC4314_POLICY_LIMIT,
			   "%s needs %" PRIu64 " bytes, allowed are %" PRIu64 " (%s)", subject,
			   bytes, p->memory_bytes, p->memory_by);
}

pctl_status pctl_policy_program_allowed(const pctl_policy *p, const pctl_program *program,
					const pctl_analysis_query *known, int with_turns,
					const char *subject, const pctl_call *call)
{
	char key[64];
	pctl_extents x;
	pctl_pos pos;
	uint32_t over;
	pctl_status status = pctl_program_extents(program, known, call, &x);

	if (status != PCTL_OK)
		return status;
	if (!with_turns)
		x.need[PCTL_EXTENT_TURNS] = 0;
	over = pctl_extents_over(&x, &p->program);
	if (over == PCTL_N_EXTENTS)
		return PCTL_OK;
	pos = pctl_extents_position(program, &x, over);
	snprintf(key, sizeof(key), "limits.program.%s", pctl_extent_key(over));
	return pctl_refuse_at(
		call, PC4318_POLICY_PROGRAM, pos.file == NULL ? NULL : &pos, pctl_extent_doc(over),
		"%s needs %s%" PRIu64 " %s, the policy allows %" PRIu64 " (%s, %s)", subject,
		x.need[over] == UINT64_MAX ? "at least " : "", x.need[over], pctl_extent_unit(over),
		p->program.most[over], key, pctl_policy_origin(p, key));
}
