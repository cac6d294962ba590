/* A chain that was made beside that of a home, put in its place: at once for whoever opens the home, also after a crash. */
#ifndef PIPECTL_CHAIN_HOME_ADOPT_H
#define PIPECTL_CHAIN_HOME_ADOPT_H

#include "pipectl/host.h"

/* Where it is made: below HOME/chain. */
#define PCTL_HOME_INCOMING "incoming"

/*
 * The chain of dir/incoming (state.sqlite and blocks.git, closed by everybody) takes the place of that of `dir`, HOME/chain, which nobody
 * has open any more. From the first step on it is what the home has: settle goes on with what was cut short. Errors: PC3.
 */
pctl_status pctl_home_adopt(const char *dir, const pctl_call *call);
/* Before a chain is opened: finish what a crash left of an adoption. */
pctl_status pctl_home_settle(const char *dir, const pctl_call *call);

/* A folder and all in it, where it is there; links are not followed. PC3. */
pctl_status pctl_home_remove(const char *dir, const pctl_call *call);

#endif
