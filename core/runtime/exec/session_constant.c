/* Constants of plans on a device: each once, by its CID, for all jobs of the session. */
#include <stdlib.h>

#include "foundation/base/map.h"
#include "runtime/exec/session_private.h"

pctl_status pctl_session_constant(pctl_session *s, const pctl_plan_buffer *constant,
				  const pctl_call *call, pctl_buffer **out)
{
	char key[PCTL_CID_TEXT_SIZE];
	pctl_status status = PCTL_OK;

	if (s->constants == NULL)
		s->constants = pctl_map_create();
	if (s->constants == NULL)
		return pctl_no_memory(call, "a constant");
	(void)pctl_cid_format(constant->cid, key);
	*out = pctl_map_get(s->constants, key);
	if (*out != NULL)
		return PCTL_OK;
	status = s->o.table->buffer_create(s->dev, call, constant->n_bytes, constant->usage, out);
	if (status != PCTL_OK)
		return status;
	if (constant->n_bytes != 0)
		status = s->o.table->buffer_write(s->dev, call, *out, 0, constant->data,
						  constant->n_bytes);
	if (status == PCTL_OK && !pctl_map_put(s->constants, key, *out))
		status = pctl_no_memory(call, "a constant");
	if (status != PCTL_OK) {
		s->o.table->buffer_destroy(s->dev, *out);
		*out = NULL;
	}
	return status;
}

void pctl_session_drop_constants(pctl_session *s)
{
	for (uint32_t i = 0; s->constants != NULL && i < pctl_map_count(s->constants); i++)
		s->o.table->buffer_destroy(s->dev, pctl_map_value_at(s->constants, i));
	pctl_map_destroy(s->constants);
	s->constants = NULL;
}
