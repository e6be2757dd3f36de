/*
 * signalled-loop: calls getppid many times, while a filter sends the program a signal in place of the call or lets it go.
 *
 * Use:    signalled-loop OPERATIONS CPU [VARIANT]  waits on standard input for one byte ("go"), then runs
 *         signalled-loop --clock READS CPU         times READS reads of the clock itself
 *         CPU -1: not pinned
 *         VARIANT: trapped  a filter refuses getppid with SIGSYS, whose handler answers for it
 *                  passed   the same filter is for another call, and lets getppid go
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *         loop alone, U and S are the CPU time of this process by getrusage(2).
 * Why:    A sandbox that answers for system calls within the program, without a second process, does it so. The handler
 *         puts a number where the call's result belongs and returns: a signal's frame is built and taken down again.
 * Source: SECCOMP_RET_TRAP in seccomp(2); Documentation/userspace-api/seccomp_filter.rst.
 */

#define PROGRAM "signalled-loop"
#include "../../loop.h"

#if !defined(__linux__)
#error "signalled-loop: filters of system calls (seccomp) are Linux's"
#endif

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define ANSWER 4711 /* no process that we could have for a parent is asked for */

static void answer(int number, siginfo_t *told, void *context)
{
	ucontext_t *at = context;

	(void)number;
	(void)told;
#if defined(__x86_64__)
	at->uc_mcontext.gregs[REG_RAX] = ANSWER;
#elif defined(__aarch64__)
	at->uc_mcontext.regs[0] = ANSWER;
#else
#error "signalled-loop: no register is known here for the result of a system call"
#endif
}

static void filter_on(unsigned int call)
{
	struct sock_filter instructions[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = sizeof(instructions) / sizeof(*instructions), .filter = instructions};
	struct sigaction handler = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO};

	if (sigaction(SIGSYS, &handler, NULL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		die("SIGSYS");
	if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
		die("seccomp");
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " [VARIANT]");
	const char *variant = argc > 3 ? argv[3] : "";
	uint64_t start_ns;
	long said = 0;

	if (strcmp(variant, "trapped") == 0)
		filter_on(__NR_getppid);
	else if (strcmp(variant, "passed") == 0)
		filter_on(__NR_acct);
	else if (*variant != '\0') {
		fprintf(stderr, PROGRAM ": %s: expected trapped or passed\n", variant);
		return 2;
	}
	wait_for_go();
	start_ns = now_ns();
	for (long done = 0; done < operations; done++)
		said = syscall(__NR_getppid);
	start_ns = now_ns() - start_ns;
	if (operations > 0 && (said == ANSWER) != (strcmp(variant, "trapped") == 0)) {
		fprintf(stderr, PROGRAM ": getppid was answered by %s\n", said == ANSWER ? "our handler" : "the kernel");
		return 1;
	}
	print_run(operations, start_ns);
	return 0;
}
