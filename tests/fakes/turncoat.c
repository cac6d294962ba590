/* Fault: the reference under another name, that is right while it is proved and turns its coat later, told by a file "orders"
 * in the plugin's own folder, where it also counts its submits (file "count"): what a plugin can keep from one process to
 * the next. Orders, one a line: `library PATH` maps a further library at the first submit, `lie N` changes a bit of what is read
 * from submit N on, of all processes together, `date N` from that second since 1970 on, `plain N` once N submits in a row
 * had no binding at an offset (what is between guard zones has one), `variable NAME` where the environment has it;
 * `link NAME TARGET` puts a symbolic link where the host keeps something for it. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "under_name.h"

static struct {
	char library[512], variable[64];
	unsigned long lie, date, plain;
} orders;
static char folder[512];
static unsigned long count, plain;
static int offset_seen;

static FILE *open_own(const char *name, const char *mode)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return folder[0] == '\0' ? NULL : fopen(path, mode);
}

/* "link NAME TARGET": NAME of the folder that holds its own, as far as it may. */
static void put_link(const char *line)
{
	char name[64], target[512], path[600];

	if (sscanf(line, "link %63s %511s", name, target) != 2)
		return;
	snprintf(path, sizeof(path), "%s/../%s", folder, name);
	if ((unlink(path) != 0 && rmdir(path) != 0 && errno != ENOENT) ||
	    symlink(target, path) != 0)
		fprintf(stderr, "turncoat: %s: %s\n", path, strerror(errno));
}

static void read_orders(void)
{
	FILE *f = open_own("orders", "re");
	char line[600];

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "library %511s", orders.library) == 1 ||
		    sscanf(line, "variable %63s", orders.variable) == 1 ||
		    sscanf(line, "lie %lu", &orders.lie) == 1 ||
		    sscanf(line, "date %lu", &orders.date) == 1)
			continue;
		put_link(line);
		(void)sscanf(line, "plain %lu", &orders.plain);
	}
	if (f != NULL)
		fclose(f);
	f = open_own("count", "re");
	if (f != NULL && fscanf(f, "%lu", &count) != 1)
		count = 0;
	if (f != NULL)
		fclose(f);
}

static pctl_status list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				 const pctl_binding *bindings, uint32_t n_bindings,
				 const uint32_t groups[3])
{
	for (uint32_t i = 0; i < n_bindings; i++)
		offset_seen |= bindings[i].offset != 0;
	return honest->list_dispatch(l, call, k, bindings, n_bindings, groups);
}

static pctl_status submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			  uint64_t *ticket)
{
	FILE *f;

	plain = offset_seen ? 0 : plain + 1;
	offset_seen = 0;
	count++;
	f = open_own("count", "we");
	if (f != NULL) {
		fprintf(f, "%lu\n", count);
		fclose(f);
	}
	if (orders.library[0] != '\0' && dlopen(orders.library, RTLD_NOW | RTLD_LOCAL) == NULL)
		fprintf(stderr, "turncoat: %s\n", dlerror());
	orders.library[0] = '\0';
	return honest->submit(dev, call, l, times, ticket);
}

static pctl_status buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *b,
			       uint64_t offset, void *data, uint64_t n)
{
	const pctl_status status = honest->buffer_read(dev, call, b, offset, data, n);

	/* Of results alone: zones have between 256 and 4096 bytes. */
	if (status == PCTL_OK && n > 0 && (n < 256 || n > 4096) &&
	    ((orders.lie != 0 && count >= orders.lie) ||
	     (orders.date != 0 && (unsigned long)time(NULL) >= orders.date) ||
	     (orders.plain != 0 && plain >= orders.plain) ||
	     (orders.variable[0] != '\0' && getenv(orders.variable) != NULL)))
		((uint8_t *)data)[0] ^= 1;
	return status;
}

static void change(const pctl_host *host)
{
	const char *own = host->get_service(host->ctx, PCTL_SERVICE_CACHE_DIR);

	snprintf(folder, sizeof(folder), "%s", own == NULL ? "" : own);
	read_orders();
	table.list_dispatch = list_dispatch;
	table.submit = submit;
	table.buffer_read = buffer_read;
}

PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {.head = PCTL_HEAD(pctl_plugin),
						.id = "turncoat",
						.version = "1.0",
						.build_flags = PCTL_BUILD_FLAGS,
						.open = plugin_open,
						.close = plugin_close,
						.interface = plugin_interface};
