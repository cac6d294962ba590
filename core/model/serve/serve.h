/* A server of one model: HTTP as OpenAI's clients speak it, on a Unix socket or on loopback, over any engine. Sequences of many
 * clients run in one batch, join and leave between steps, and get the answers that they would get alone. */
#ifndef PIPECTL_MODEL_SERVE_SERVE_H
#define PIPECTL_MODEL_SERVE_SERVE_H

#include "foundation/diag/log.h"
#include "model/serve/engine.h"

typedef struct pctl_serve_limits {
#define PCTL_SERVE_LIMIT(field, option, usual, least, most, about) uint32_t field;
#include "model/serve/limits.def"
#undef PCTL_SERVE_LIMIT
} pctl_serve_limits;

/* The rows of limits.def, for option tables: field is the offset in pctl_serve_limits. */
typedef struct pctl_serve_limit_row {
	const char *option, *about;
	uint32_t field, usual, least, most;
} pctl_serve_limit_row;
const pctl_serve_limit_row *pctl_serve_limit_rows(uint32_t *n_out);
/* Each row's usual value. */
void pctl_serve_limits_init(pctl_serve_limits *out);

/*
 * socket    path of a Unix socket, made with mode 0600; one that nobody listens on is replaced, anything else refused. NULL: none
 * address   with port: NULL for 127.0.0.1 and ::1 (as far as the machine has them), else one of these; no other is taken
 * port      with socket NULL: 1 to 65535; 0: the system chooses, and `listening` is told
 * stopping  asked at least ten times a second: 0 go on, 1 take nothing new and end when what is under way is answered, or after
 *           drain_s, 2 end at once. NULL: 1 from when `call` is cancelled
 * listening told where, once; may be NULL
 * log       requests and metrics; may be NULL
 */
typedef struct pctl_serve_options {
	const char *socket, *address;
	uint32_t port;
	pctl_serve_limits limits;
	uint32_t (*stopping)(void *ctx);
	void (*listening)(void *ctx, const char *where);
	void *ctx;
	pctl_log *log;
} pctl_serve_options;

/* A server: its address first, its model later. */
typedef struct serve_http pctl_server;

/*
 * Listen, which tells what is wrong with an address or a limit before a model is loaded. Who connects from here on waits until
 * pctl_server_run. options are kept: they stay the caller's until the server is closed.
 *
 * PC6250 (address or port), PC6251 (the socket), PC6252 (another server listens), PC6253 (the HTTP library refuses to begin), PC10 (a
 * limit out of its range), PC2: *out is NULL then.
 */
pctl_status pctl_server_open(const pctl_serve_options *options, const pctl_call *call,
			     pctl_server **out);

/*
 * Serve until told to stop, once. Threads are made and ended within; SIGPIPE is not raised. The engine is called from one thread of
 * the server's and, where it says so, from others.
 *
 * PCTL_OK: told to stop, and all that was under way is answered. PCTL_E_CANCELLED: told to stop, and something was cut off.
 * PC6253 (the system or the HTTP library refuses to go on), PC2.
 */
pctl_status pctl_server_run(pctl_server *s, const pctl_engine *engine);

/* The socket's file goes too, if it is still ours. May be NULL. */
void pctl_server_close(pctl_server *s);

#endif
