/* Pages of the cache: a slot takes them as its sequence grows and gives all of them back. */
#include "model/generate/private.h"

pctl_status engine_take_pages(pctl_model_engine *e, uint32_t slot, uint32_t end)
{
	engine_slot *s = &e->slots[slot];
	const uint32_t wanted = (end + PCTL_ENGINE_PAGE - 1) / PCTL_ENGINE_PAGE;

	if (wanted > e->slot_pages || (wanted > s->n_pages && wanted - s->n_pages > e->n_free))
		return PCTL_E_LIMIT;
	while (s->n_pages < wanted)
		s->pages[s->n_pages++] = e->free_pages[--e->n_free];
	return PCTL_OK;
}

void engine_give_pages(pctl_model_engine *e, uint32_t slot)
{
	engine_slot *s = &e->slots[slot];

	while (s->n_pages != 0)
		e->free_pages[e->n_free++] = s->pages[--s->n_pages];
	s->n_held = s->lost = 0;
}
