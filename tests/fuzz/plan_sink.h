/* Measures, repeats and constants of a sink that adds up what it is given: a part of fuzz_ipc.c. */
static pctl_status read_measure(void *ctx, uint32_t buffer, uint64_t offset, uint32_t bytes,
				uint64_t add)
{
	*(size_t *)ctx += buffer + offset + bytes + add;
	return PCTL_OK;
}

static pctl_status read_repeat(void *ctx, const pctl_plan_repeat *r)
{
	*(size_t *)ctx += r->times;
	for (uint32_t i = 0; i < r->n_pairs; i++)
		*(size_t *)ctx += r->pairs[i].a + r->pairs[i].b;
	return PCTL_OK;
}

static pctl_status read_repeat_end(void *ctx)
{
	(void)ctx;
	return PCTL_OK;
}

static pctl_status read_constant(void *ctx, const char *cid, const void *bytes, uint64_t n,
				 uint32_t *buffer)
{
	*(size_t *)ctx += strlen(cid);
	return read_params(ctx, bytes, n, buffer);
}
