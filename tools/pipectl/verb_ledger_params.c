/* `ledger params`: the parameters of the consensus VM, and proposals, votes and changes of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/state/amount.h"
#include "chain/ledger/params.h"
#include "chain.h"
#include "ledger.h"

#define N_WORDS(app) ((app)->line.n_arguments - 1)    /* behind list, show, .. */
#define WORD(app, i) ((app)->line.arguments[1 + (i)]) /* i < N_WORDS */

/* ---- values -------------------------------------------------------------------------------- */

static void print_param(pctl_app *app, uint32_t i, uint64_t value)
{
	const pctl_param *p = pctl_param_at(i);
	char text[PCTL_PARAM_TEXT_SIZE], least[PCTL_PARAM_TEXT_SIZE], most[PCTL_PARAM_TEXT_SIZE];
	pctl_json *j = &app->document;

	pctl_param_format(i, value, text);
	pctl_param_format(i, p->least, least);
	pctl_param_format(i, p->most, most);
	if (!app->json) {
		pctl_table_cell(app->table, "%s", p->name);
		pctl_table_cell(app->table, "%s", text);
		pctl_table_cell(app->table, "(%s to %s)", least, most);
		pctl_table_cell(app->table, "%s", p->doc);
		return;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "name", p->name);
	pctl_json_kv_string(j, "value", text);
	pctl_json_kv_string(j, "least", least);
	pctl_json_kv_string(j, "most", most);
	pctl_json_kv_string(j, "about", p->doc);
	pctl_json_object_end(j);
}

/* All parameters, or one, at a height. */
static pctl_status print_params(pctl_app *app, pctl_chain_state *s, uint64_t height, uint32_t from,
				uint32_t to)
{
	static const pctl_column columns[] = {
		{"parameter", "", 25}, {"value", " ", 0}, {"allowed", "  ", 0}, {"about", " ", 0}};
	pctl_params p;
	pctl_status status = pctl_params_in_force(s, height, app->call, &p);

	if (status != PCTL_OK)
		return status;
	if (app->json)
		pctl_json_kv_u64(&app->document, "height", height);
	pctl_app_list_begin(app, "params", columns, PCTL_COLUMNS(columns));
	for (uint32_t i = from; i < to; i++)
		print_param(app, i, p.values[i]);
	return pctl_app_list_end(app, PCTL_OK);
}

static pctl_status list(pctl_app *app, pctl_chain *c, uint64_t height)
{
	pctl_status status = pctl_app_height(app, "--height", height, &height);

	return status == PCTL_OK ? print_params(app, pctl_cursor(c), height, 0, PCTL_PARAM_COUNT)
				 : status;
}

/* ---- proposals ----------------------------------------------------------------------------- */

static void print_proposal(pctl_app *app, const pctl_proposal *p)
{
	const char *state = p->is_applied ? "applied" : "open";
	char text[PCTL_PARAM_TEXT_SIZE];
	pctl_json *j = &app->document;

	if (!app->json) {
		printf("%" PRIu64 " %s by %s for height %" PRIu64 ": yes %" PRIu64 ", no %" PRIu64
		       " of bonds %" PRIu64 "\n",
		       p->id, state, p->sender, p->height, p->yes, p->no, p->bonds);
		for (uint32_t i = 0; i < p->n_changes; i++)
			printf("  %s=%s\n", pctl_param_at(p->changes[i].param)->name,
			       pctl_param_format(p->changes[i].param, p->changes[i].value, text));
		return;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_u64(j, "id", p->id);
	pctl_json_kv_string(j, "state", state);
	pctl_json_kv_string(j, "sender", p->sender);
	pctl_json_kv_u64(j, "height", p->height);
	pctl_json_kv_u64(j, "yes", p->yes);
	pctl_json_kv_u64(j, "no", p->no);
	pctl_json_kv_u64(j, "bonds", p->bonds);
	pctl_json_key(j, "changes");
	pctl_json_object_begin(j);
	for (uint32_t i = 0; i < p->n_changes; i++)
		pctl_json_kv_string(
			j, pctl_param_at(p->changes[i].param)->name,
			pctl_param_format(p->changes[i].param, p->changes[i].value, text));
	pctl_json_object_end(j);
	pctl_json_object_end(j);
}

static pctl_status print_proposals(pctl_app *app, pctl_chain_state *s, uint64_t from, uint64_t to)
{
	pctl_proposal p;
	pctl_status status = PCTL_OK;

	if (app->json) {
		pctl_json_key(&app->document, "proposals");
		pctl_json_array_begin(&app->document);
	}
	for (uint64_t id = from; status == PCTL_OK && id <= to; id++) {
		status = pctl_params_proposal(s, id, app->call, &p);
		if (status == PCTL_OK)
			print_proposal(app, &p);
		if (id == UINT64_MAX)
			break;
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	return status;
}

/* Nothing: all proposals. A number: that one. Else a parameter. */
static pctl_status show(pctl_app *app, pctl_chain *c, uint64_t height)
{
	pctl_chain_state *s = pctl_cursor(c);
	uint64_t id, n;
	uint32_t i;
	pctl_status status = pctl_app_height(app, "--height", height, &height);

	if (status != PCTL_OK)
		return status;
	if (N_WORDS(app) == 0) {
		status = pctl_params_proposal_count(s, app->call, &n);
		return status == PCTL_OK ? print_proposals(app, s, 1, n) : status;
	}
	if (pctl_amount_parse(WORD(app, 0), &id))
		return print_proposals(app, s, id, id);
	status = pctl_param_find(WORD(app, 0), app->call, &i);
	return status == PCTL_OK ? print_params(app, s, height, i, i + 1) : status;
}

static pctl_status parse_change(pctl_app *app, const char *text, pctl_param_change *out)
{
	const char *equals = strchr(text, '='), *name;
	pctl_status status;

	if (equals == NULL)
		return pctl_refuse(app->call, PC10_USAGE, "a change is NAME=VALUE, not \"%s\"",
				   text);
	name = pctl_arena_dup_n(app->arena, text, (size_t)(equals - text));
	if (name == NULL)
		return pctl_no_memory(app->call, "a change");
	status = pctl_param_find(name, app->call, &out->param);
	if (status == PCTL_OK)
		status = pctl_param_parse(out->param, equals + 1, app->call, &out->value);
	return status;
}

/* Heights come from the chain; one that is given must be that of the open block. */
static pctl_status check_height(pctl_app *app, uint64_t height)
{
	uint64_t given;
	pctl_status status = pctl_app_height(app, "--height", height, &given);

	return status == PCTL_OK && given != height
		       ? pctl_refuse(app->call, PC5725_CHAIN_HEIGHT,
				     "the open block has height %" PRIu64 ", not %" PRIu64, height,
				     given)
		       : status;
}

/* Send a message about parameters and print the proposal it speaks of. */
static pctl_status send(pctl_app *app, pctl_chain *c, const pctl_msg_params *m)
{
	const pctl_request r = {.kind = PCTL_MSG_PARAMS, .as.params = *m};
	pctl_response out;
	pctl_status status = pctl_chain_apply(c, &r, app->call, &out);
	uint64_t id = m->proposal;

	if (status == PCTL_OK && m->op == PCTL_PARAMS_PROPOSE)
		id = out.as.ack.proposal;
	pctl_response_destroy(&out);
	return status == PCTL_OK ? print_proposals(app, pctl_cursor(c), id, id) : status;
}

static int compare_changes(const void *a, const void *b)
{
	return strcmp(((const pctl_msg_param_change *)a)->name,
		      ((const pctl_msg_param_change *)b)->name);
}

static pctl_status read_changes(pctl_app *app, pctl_msg_param_change *out)
{
	const uint32_t n = N_WORDS(app);
	char text[PCTL_PARAM_TEXT_SIZE];
	pctl_param_change change;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		status = parse_change(app, WORD(app, i), &change);
		if (status != PCTL_OK)
			return status;
		out[i].name = pctl_param_at(change.param)->name;
		out[i].value = pctl_arena_dup(app->arena,
					      pctl_param_format(change.param, change.value, text));
		if (out[i].value == NULL)
			return pctl_no_memory(app->call, "changes");
	}
	qsort(out, n, sizeof(*out), compare_changes);
	for (uint32_t i = 1; i < n; i++)
		if (strcmp(out[i - 1].name, out[i].name) == 0)
			return pctl_refuse(app->call, PC5724_PARAM_PROPOSAL,
					   "the proposal changes %s twice", out[i].name);
	return PCTL_OK;
}

static pctl_status propose(pctl_app *app, pctl_chain *c, uint64_t height)
{
	pctl_msg_param_change *changes =
		pctl_arena_array(app->arena, app->line.n_arguments, sizeof(*changes));
	pctl_msg_params m = {.op = PCTL_PARAMS_PROPOSE, .changes = changes};
	pctl_status status = pctl_app_sender(app, &m.sender);

	if (changes == NULL)
		return pctl_no_memory(app->call, "changes");
	if (status == PCTL_OK && !pctl_option_has(&app->line, "--at"))
		return pctl_refuse(app->call, PC10_USAGE,
				   "--at HEIGHT says from which block on the change holds");
	if (status == PCTL_OK)
		status = check_height(app, height);
	if (status == PCTL_OK)
		status = pctl_app_height(app, "--at", 0, &m.height);
	if (status == PCTL_OK)
		status = read_changes(app, changes);
	m.n_changes = N_WORDS(app);
	return status == PCTL_OK ? send(app, c, &m) : status;
}

static pctl_status parse_id(pctl_app *app, uint64_t *out)
{
	return pctl_amount_parse(WORD(app, 0), out)
		       ? PCTL_OK
		       : pctl_refuse(app->call, PC10_USAGE, "\"%s\" is no number of a proposal",
				     WORD(app, 0));
}

static pctl_status vote(pctl_app *app, pctl_chain *c, uint64_t height)
{
	pctl_msg_params m = {.op = PCTL_PARAMS_VOTE};
	pctl_status status = pctl_app_sender(app, &m.sender);

	if (status == PCTL_OK)
		status = check_height(app, height);
	if (status == PCTL_OK)
		status = parse_id(app, &m.proposal);
	if (status != PCTL_OK)
		return status;
	m.yes = strcmp(WORD(app, 1), "yes") == 0;
	if (!m.yes && strcmp(WORD(app, 1), "no") != 0)
		return pctl_refuse(app->call, PC10_USAGE, "a vote is yes or no, not \"%s\"",
				   WORD(app, 1));
	return send(app, c, &m);
}

/* Anybody may apply what was voted for; without a sender its proposer does. */
static pctl_status apply(pctl_app *app, pctl_chain *c, uint64_t height)
{
	pctl_msg_params m = {.op = PCTL_PARAMS_APPLY};
	pctl_proposal p;
	pctl_status status = check_height(app, height);

	if (status == PCTL_OK)
		status = parse_id(app, &m.proposal);
	if (status == PCTL_OK)
		status = pctl_params_proposal(pctl_cursor(c), m.proposal, app->call, &p);
	if (status != PCTL_OK)
		return status;
	m.sender = p.sender;
	if (pctl_option_has(&app->line, "--from") || pctl_option_has(&app->line, "--sender"))
		status = pctl_app_sender(app, &m.sender);
	return status == PCTL_OK ? send(app, c, &m) : status;
}

/* ---- the verb ------------------------------------------------------------------------------ */

static const struct {
	const char *name, *usage;
	uint32_t least, most;
	pctl_status (*run)(pctl_app *app, pctl_chain *c, uint64_t height);
} actions[] = {
	{"list", "", 0, 0, list},
	{"show", "[NAME|PROPOSAL]", 0, 1, show},
	{"propose", "NAME=VALUE... --from ACCOUNT --at HEIGHT", 1, PCTL_PARAM_COUNT, propose},
	{"vote", "PROPOSAL yes|no --from ACCOUNT", 2, 2, vote},
	{"apply", "PROPOSAL", 1, 1, apply},
};

pctl_status pctl_verb_ledger_params(pctl_app *app)
{
	const uint32_t n = sizeof(actions) / sizeof(actions[0]);
	pctl_chain *c = NULL;
	pctl_chain_info info;
	uint32_t i = 0;
	pctl_status status;

	/* It opens no transaction: what it takes a while to measure changes nothing. */
	if (strcmp(app->line.arguments[0], "calibrate") == 0)
		return pctl_ledger_calibrate(app);
	while (i < n && strcmp(app->line.arguments[0], actions[i].name) != 0)
		i++;
	if (i == n)
		return pctl_refuse(
			app->call, PC10_USAGE,
			"`ledger params` takes list, show, propose, vote, apply or calibrate, not "
			"\"%s\"",
			app->line.arguments[0]);
	if (N_WORDS(app) < actions[i].least || N_WORDS(app) > actions[i].most)
		return pctl_refuse(app->call, PC10_USAGE, "usage: pipectl ledger params %s %s",
				   actions[i].name, actions[i].usage);
	status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK)
		status = pctl_chain_info_read(c, app->call, &info);
	if (status == PCTL_OK)
		status = actions[i].run(app, c, info.last + 1);
	pctl_chain_close(c);
	return status;
}
