/* Blocks before they are decided: judged and chosen by trying their messages on the state and undoing it all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/engine/decide_private.h"
#include "chain/state/amount.h"

__extension__ typedef unsigned __int128 wide;

#define AROUND 6u /* bytes of an encoded block around a message: a tag and a length */

pctl_status pctl_decide_attempt_begin(pctl_decider *d, const pctl_call *call)
{
	pctl_arena_clear(d->scratch);
	pctl_decide_into(d, d->scratch);
	return pctl_chain_attempt_begin(d->chain, call);
}

pctl_status pctl_decide_attempt_end(pctl_decider *d, pctl_status status, const pctl_call *call)
{
	const pctl_status ended = pctl_chain_attempt_end(d->chain, call);

	return status == PCTL_OK ? ended : status;
}

/* ---- one message --------------------------------------------------------------------------- */

/* Sender and number, where the bytes are a message that has both. */
static int name_of(const pctl_msg_bytes *m, char sender[PCTL_ACCOUNT_SIZE], uint64_t *nonce)
{
	pctl_request r;
	const char *name;
	int found = 0;

	if (pctl_request_decode(m->data, m->n, NULL, &r) != PCTL_OK)
		return 0;
	name = pctl_request_sender(&r);
	if (name != NULL && r.auth.is_given && strlen(name) < PCTL_ACCOUNT_SIZE) {
		memcpy(sender, name, strlen(name) + 1);
		*nonce = r.auth.nonce;
		found = 1;
	}
	pctl_request_destroy(&r);
	return found;
}

/* Taken in, or refused and paid for: who sent that has to be rid of it, or it would be tried again for every block. */
static int is_worth(const pctl_decided_result *r)
{
	return r->code == 0 || r->paid != 0;
}

/* ---- bounds -------------------------------------------------------------------------------- */

/* What of a block's budget a message takes: its job's gas, or where it is refused, after every node compiled and judged what it names, what it paid. */
static uint64_t load_of(const pctl_decided_result *r)
{
	return r->code == 0 ? r->gas_wanted : r->paid;
}

static int add_gas(void *ctx, const pctl_chain_job *job)
{
	uint64_t *sum = ctx;

	if (!pctl_amount_add(sum, job->gas))
		*sum = UINT64_MAX;
	return 0;
}

/* What jobs of the block that is open may cost beside those that wait, which cost *waits. */
static pctl_status room_for_gas(pctl_decider *d, const pctl_call *call, pctl_params *p,
				uint64_t *waits, uint64_t *out)
{
	uint64_t budget = 0, waiting = 0;
	pctl_chain_info info;
	pctl_status status = pctl_chain_last(d->chain, call, &info);

	if (status == PCTL_OK)
		status = pctl_params_in_force(d->chain->state, info.last + 1, call, p);
	if (status == PCTL_OK)
		status = pctl_params_block_budget(p, call, &budget);
	if (status == PCTL_OK)
		status = pctl_jobs_pending(d->chain->state, add_gas, &waiting, call);
	*waits = waiting < budget ? waiting : budget;
	*out = budget - *waits;
	return status;
}

/* ---- a block of others --------------------------------------------------------------------- */

static void blame(pctl_judgement *j, uint32_t code, uint32_t index, const char *text)
{
	j->code = code;
	j->index = index;
	snprintf(j->text, sizeof(j->text), "%s", text);
}

static pctl_status judge_all(pctl_decider *d, const pctl_msg_bytes *messages, uint32_t n,
			     const pctl_call *call, pctl_judgement *out)
{
	uint8_t job[PCTL_DIGEST_BYTES];
	pctl_decided_result r;
	uint64_t room, all, gas;
	pctl_params p;
	pctl_status status = room_for_gas(d, call, &p, &gas, &room);

	all = room;
	if (status == PCTL_OK)
		pctl_chain_ahead_bytes(d->chain, messages, n);
	for (uint32_t i = 0; status == PCTL_OK && out->code == 0 && i < n; i++) {
		status = pctl_decide_take(d, &messages[i], call, &r, job);
		if (status != PCTL_OK)
			break;
		if (!is_worth(&r))
			blame(out, r.code, i, r.text);
		else if (!pctl_amount_sub(&room, load_of(&r)))
			blame(out, PC6171_PROPOSAL_BOUNDS, i,
			      "the jobs and refusals up to this one are above the budget of a "
			      "block");
		if (pctl_is_cancelled(call))
			status =
				pctl_refuse(call, PC4_CANCELLED, "cancelled while judging a block");
	}
	/* Before it votes a node says that it would not keep up. */
	gas += all - room;
	if (status == PCTL_OK && out->code == 0 && d->abstains &&
	    pctl_chain_pace_ms(gas, d->chain->gas_per_ms) > pctl_chain_jobs_ms(&p))
		blame(out, PC5868_BLOCK_PLAN, 0, "its jobs take this node longer than a block has");
	return status;
}

pctl_status pctl_decide_judge(pctl_decider *d, uint64_t height, const pctl_msg_bytes *messages,
			      uint32_t n, const pctl_call *call, pctl_judgement *out)
{
	uint64_t bytes = 0;
	pctl_status status;

	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < n; i++)
		bytes += messages[i].n;
	if (height != d->last.height + 1)
		blame(out, PC6166_DECIDE_HEIGHT, 0, "this is not the next block");
	else if (n > PCTL_DECIDE_MESSAGES_MAX || bytes > PCTL_DECIDE_BYTES_MAX)
		blame(out, PC6171_PROPOSAL_BOUNDS, 0, "more messages or bytes than a block has");
	if (out->code != 0)
		return PCTL_OK;
	status = pctl_decide_attempt_begin(d, call);
	return status == PCTL_OK
		       ? pctl_decide_attempt_end(d, judge_all(d, messages, n, call, out), call)
		       : status;
}

/* ---- a block of one's own ------------------------------------------------------------------ */

/* A message that waits; gas: of its job, load: of the budget, as first tried. */
typedef struct candidate {
	char sender[PCTL_ACCOUNT_SIZE];
	uint64_t nonce, gas, load, n;
	uint32_t index, reserved;
} candidate;

static int by_sender(const void *a, const void *b)
{
	const candidate *x = a, *y = b;
	const int names = strcmp(x->sender, y->sender);

	if (names != 0)
		return names;
	if (x->nonce != y->nonce)
		return x->nonce < y->nonce ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* Gas a byte, exactly: both products are below 2^64 times 2^22. */
static int is_dearer(const candidate *a, const candidate *b)
{
	const wide x = (wide)a->gas * b->n, y = (wide)b->gas * a->n;

	return x != y ? x > y : a->index < b->index;
}

/* The next of each sender, as a heap with the dearest first. */
typedef struct heads {
	candidate **items;
	uint32_t n, reserved;
} heads;

static void sink(heads *h, uint32_t i)
{
	for (uint32_t child; (child = 2 * i + 1) < h->n; i = child) {
		candidate *const moved = h->items[i];

		if (child + 1 < h->n && is_dearer(h->items[child + 1], h->items[child]))
			child++;
		if (is_dearer(moved, h->items[child]))
			return;
		h->items[i] = h->items[child];
		h->items[child] = moved;
	}
}

/* Try all of them once, sender by sender: what is refused is away, what is left has its gas. */
static pctl_status weigh(pctl_decider *d, const pctl_msg_bytes *messages, candidate *all,
			 uint32_t *n, const pctl_call *call)
{
	uint8_t job[PCTL_DIGEST_BYTES];
	char out[PCTL_ACCOUNT_SIZE] = "";
	pctl_decided_result r;
	uint32_t kept = 0;
	pctl_status status = pctl_decide_attempt_begin(d, call);

	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; status == PCTL_OK && i < *n; i++) {
		const pctl_msg_bytes *m = &messages[all[i].index];

		status = pctl_decide_take(d, m, call, &r, job);
		if (status == PCTL_OK && !is_worth(&r)) {
			/* What its sender sent behind it is refused for its number. */
			if (i == 0 || strcmp(out, all[i].sender) != 0)
				status = pctl_decide_suspected(d, m, call);
			memcpy(out, all[i].sender, sizeof(out));
			continue;
		}
		if (status != PCTL_OK)
			continue;
		all[i].gas = r.gas_wanted;
		all[i].load = load_of(&r);
		all[kept++] = all[i];
	}
	*n = kept;
	return pctl_decide_attempt_end(d, status, call);
}

typedef struct choice {
	pctl_decider *d;
	const pctl_msg_bytes *messages;
	const candidate *last; /* behind all of them */
	uint64_t gas, bytes;   /* left */
	uint32_t *chosen, n;
} choice;

/* The dearest head: taken if it fits, and then its sender's next one is a head; else its sender is out. */
static pctl_status take_head(choice *k, heads *h, const pctl_call *call)
{
	candidate *c = h->items[0];
	uint8_t job[PCTL_DIGEST_BYTES];
	pctl_decided_result r = {.code = 1};
	pctl_status status = PCTL_OK;
	int fits =
		c->load <= k->gas && c->n + AROUND <= k->bytes && k->n < PCTL_DECIDE_MESSAGES_MAX;

	if (fits)
		status = pctl_decide_take(k->d, &k->messages[c->index], call, &r, job);
	fits = fits && status == PCTL_OK && is_worth(&r);
	if (fits && !pctl_amount_sub(&k->gas, load_of(&r))) {
		h->n = 0; /* it costs more here than when it was weighed, and has been tried: what came before it stands */
		return status;
	}
	if (fits) {
		k->chosen[k->n++] = c->index;
		k->bytes -= c->n + AROUND;
	}
	if (fits && c + 1 < k->last && strcmp(c[1].sender, c->sender) == 0)
		h->items[0] = c + 1;
	else
		h->items[0] = h->items[--h->n];
	sink(h, 0);
	return status;
}

static pctl_status choose(choice *k, candidate *all, uint32_t n, const pctl_call *call)
{
	heads h = {.items = calloc(n == 0 ? 1 : n, sizeof(candidate *))};
	uint64_t waits;
	pctl_params p;
	pctl_status status = h.items == NULL ? pctl_no_memory(call, "a block")
					     : pctl_decide_attempt_begin(k->d, call);

	if (status != PCTL_OK) {
		free(h.items);
		return status;
	}
	status = room_for_gas(k->d, call, &p, &waits, &k->gas);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || strcmp(all[i].sender, all[i - 1].sender) != 0)
			h.items[h.n++] = &all[i];
	for (uint32_t i = h.n / 2 + 1; i-- > 0;)
		sink(&h, i);
	while (status == PCTL_OK && h.n > 0)
		status = take_head(k, &h, call);
	free(h.items);
	return pctl_decide_attempt_end(k->d, status, call);
}

pctl_status pctl_decide_choose(pctl_decider *d, const pctl_msg_bytes *messages, uint32_t n,
			       uint64_t max_bytes, const pctl_call *call, uint32_t *chosen,
			       uint32_t *n_chosen)
{
	candidate *all = calloc(n == 0 ? 1 : n, sizeof(*all));
	choice k = {.d = d,
		    .messages = messages,
		    .bytes = max_bytes < PCTL_DECIDE_BYTES_MAX ? max_bytes : PCTL_DECIDE_BYTES_MAX,
		    .chosen = chosen};
	uint32_t n_all = 0;
	pctl_status status = PCTL_OK;

	*n_chosen = 0;
	if (all == NULL)
		return pctl_no_memory(call, "a block");
	d->n_refused = 0;
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		int is_out = 0;

		all[n_all].index = i;
		all[n_all].n = messages[i].n;
		if (!name_of(&messages[i], all[n_all].sender, &all[n_all].nonce))
			continue;
		status = pctl_decide_try_again(d, &messages[i], call, &is_out);
		n_all += !is_out;
	}
	qsort(all, n_all, sizeof(*all), by_sender);
	if (status == PCTL_OK)
		status = weigh(d, messages, all, &n_all, call);
	k.last = all + n_all;
	if (status == PCTL_OK)
		status = choose(&k, all, n_all, call);
	if (status == PCTL_OK)
		*n_chosen = k.n;
	free(all);
	return status;
}
