/* Whose fault it is that bytes differ: the race detector of the reference is asked before a device is blamed. */
#include "evidence/audit/audit_private.h"

static pctl_status ask(pctl_auditing *a, pctl_race_answer *out)
{
	pctl_status status = pctl_run_ask_races(a->graph, &a->o->run, a->call, out);

	if (status != PCTL_OK)
		return status;
	a->r->races = out->races;
	a->r->race = NULL;
	if (out->races == PCTL_RACES_REFUTED || out->races == PCTL_RACES_UNPROVEN) {
		a->r->race = pctl_arena_dup(a->r->arena, out->text);
		if (a->r->race == NULL)
			return pctl_no_memory(a->call, "an audit");
	}
	return PCTL_OK;
}

/* The devices run without asking again. */
pctl_status pctl_auditing_check_races(pctl_auditing *a)
{
	pctl_race_answer answer;
	pctl_status status;

	if (a->r->races == PCTL_RACES_PROVEN || a->o->run.policy->race != PCTL_RACE_CHECKED)
		return PCTL_OK;
	status = ask(a, &answer);
	if (status != PCTL_OK || answer.races == PCTL_RACES_CHECKED ||
	    answer.races == PCTL_RACES_PROVEN)
		return status;
	return answer.races == PCTL_RACES_REFUTED
		       ? pctl_refuse(a->call, PC5220_RACE, "%s", answer.text)
		       : pctl_refuse(a->call, PC5602_AUDIT_NOTHING,
				     "the reference could not look for races: %s", answer.text);
}

static int is_blamed(const pctl_audit_device *d)
{
	return d->outcome == PCTL_AUDIT_OUTVOTED || d->outcome == PCTL_AUDIT_UNSTEADY;
}

pctl_status pctl_auditing_acquit(pctl_auditing *a)
{
	uint32_t n_blamed = 0;
	pctl_race_answer answer;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < a->r->n_devices; i++)
		n_blamed += is_blamed(&a->r->devices[i]) ||
			    a->r->devices[i].outcome == PCTL_AUDIT_UNDECIDED;
	if (n_blamed == 0)
		return PCTL_OK;
	if (a->order_shows) {
		a->r->races = PCTL_RACES_UNPROVEN;
		a->r->race = "the order of its atomics shows, so right devices may differ";
	} else if (a->r->races != PCTL_RACES_PROVEN && a->r->races != PCTL_RACES_CHECKED) {
		status = ask(a, &answer);
	}
	for (uint32_t i = 0; status == PCTL_OK && a->r->race != NULL && i < a->r->n_devices; i++)
		if (is_blamed(&a->r->devices[i]))
			a->r->devices[i].outcome = PCTL_AUDIT_UNDECIDED;
	return status;
}
