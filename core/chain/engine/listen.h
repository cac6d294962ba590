/* Where an engine finds its node: unix:PATH or tcp:HOST:PORT of the loopback. */
#ifndef PIPECTL_CHAIN_ENGINE_LISTEN_H
#define PIPECTL_CHAIN_ENGINE_LISTEN_H

#include "runtime/ipc/listener.h"

/* Listening when it returns; closed with pctl_listener_close. PC6161 (no such address), PC6160, PC6111. */
pctl_status pctl_engine_listen(const char *address, const pctl_call *call, pctl_listener *out);

#endif
