/* The host's side of an op library that runs in a worker, behind the same pctl_oplib table as one that runs here. What it
 * offers is asked for once, when it is opened, and stays: descriptions, rules, functions. infer, plan and reference go to the
 * worker; a plan is recorded there and put into the caller's sink here, a reference works on copies in shared memory.
 * When the worker ends, hangs past its time or answers nonsense, that call and all later ones are refused with PC3111, which
 * names the plugin, the call and the cause; nothing of the answer is used. */
#ifndef PIPECTL_RUNTIME_IPC_REMOTE_OPS_H
#define PIPECTL_RUNTIME_IPC_REMOTE_OPS_H

#include "runtime/ipc/remote.h"
#include "pipectl/oplib.h"

typedef struct pctl_remote_ops pctl_remote_ops;

/* The first interface of the launch is that of op libraries. Errors: those of pctl_remote_open but PC3111 for PC3103 to
 * PC3105, PC3017, PC3023 and PC3025. [any thread] */
pctl_status pctl_remote_ops_open(const pctl_remote_options *o, const pctl_call *call,
				 pctl_remote_ops **out);
/* NULL is fine. What the table gave is gone then. */
void pctl_remote_ops_close(pctl_remote_ops *r);

const pctl_oplib *pctl_remote_ops_table(const pctl_remote_ops *r);
pctl_instance *pctl_remote_ops_instance(pctl_remote_ops *r);
/* NULL while the worker is well, else how it was lost; at_fault: by its own doing. */
const char *pctl_remote_ops_lost(const pctl_remote_ops *r, int *at_fault);

#endif
