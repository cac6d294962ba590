/* Faults of the system under a log: the calls that write, of this program and of libgit2 in it, pass through here and are
 * counted from faults_begin on. GITLOG_FAULT=fail:N lets the N-th fail with ENOSPC, kill:N ends the process by SIGKILL in
 * its place; trace prints each; nosync leaves out fsync. */
#ifndef PIPECTL_TESTS_GITLOG_FAULTS_H
#define PIPECTL_TESTS_GITLOG_FAULTS_H

void faults_begin(void);
/* Prints "calls N" on standard error when GITLOG_FAULT is set. */
void faults_end(void);

#endif
