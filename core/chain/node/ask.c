/* A client's half of the protocol; see ask.h. */
#include "chain/node/ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "chain/node/frame.h"

static int wrong(const char **why, const char *words)
{
	*why = words;
	return 0;
}

int pctl_ask_open(const char *path, int *fd, const char **why)
{
	struct sockaddr_un where = {.sun_family = AF_UNIX};

	*fd = -1;
	if (strlen(path) >= sizeof(where.sun_path))
		return wrong(why, "its path is too long for a socket");
	memcpy(where.sun_path, path, strlen(path));
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd < 0 || connect(*fd, (const struct sockaddr *)&where, sizeof(where)) != 0)
		return wrong(why, strerror(errno));
	return 1;
}

int pctl_ask(int fd, const pctl_request *r, uint32_t timeout_ms, const pctl_call *call,
	     pctl_response *out, const char **why)
{
	uint8_t *bytes = NULL;
	uint64_t n = 0;
	uint32_t n_answer = 0;
	pctl_status status = pctl_request_encode(r, call, &bytes, &n);

	if (status == PCTL_OK)
		status = pctl_frame_send(fd, bytes, (uint32_t)n, timeout_ms, call);
	free(bytes);
	bytes = NULL;
	if (status == PCTL_OK)
		status = pctl_frame_receive(fd, timeout_ms, call, &bytes, &n_answer);
	if (status == PCTL_OK && bytes == NULL)
		status = PCTL_E_IO;
	if (status == PCTL_OK)
		status = pctl_response_decode(bytes, n_answer, call, out);
	free(bytes);
	return status == PCTL_OK ? 1 : wrong(why, "it did not answer");
}
