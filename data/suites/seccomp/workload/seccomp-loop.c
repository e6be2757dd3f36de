/*
 * seccomp-loop: calls getppid many times below seccomp filters that it has installed on itself, and times the loop.
 *
 * Use:   seccomp-loop OPERATIONS CPU [FILTERS [VARIANT]]  waits on standard input for one byte ("go"), then runs
 *        seccomp-loop --clock READS CPU                   times READS reads of the clock itself
 *        CPU -1: not pinned
 *        FILTERS: how many filters a variant installs, one after another; without a variant there is none
 *        VARIANT: allow          each filter allows every call, without a look
 *                 list           each compares the call's number with 50 others, and allows it
 *                 argument       each looks at the first argument of this call, and allows it
 *                 list-argument  each compares the number with 50 others, then looks at the argument
 *                 notify         the last one has a supervisor asked at each getppid, who lets it go on; the others
 *                                allow every call
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of this process, without its supervisor, by getrusage(2).
 * Why:   Every filter is run for every call, whatever another one says, unless the kernel knows the answer by the
 *        call's number alone (since Linux 5.11), as it does for the first two variants. getppid does next to nothing.
 *        The supervisor is a process on the same CPU: no idle CPU has to be woken, and the loop waits for it anyway.
 *        A process with PR_SET_NO_NEW_PRIVS may install filters without being root.
 * Source: seccomp(2) and seccomp_unotify(2) of the Linux man-pages; Documentation/userspace-api/seccomp_filter.rst.
 */

#define PROGRAM "seccomp-loop"
#include "../../loop.h"

#if !defined(__linux__)
#error "seccomp-loop: filters of system calls (seccomp) are Linux's"
#endif

#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef SECCOMP_USER_NOTIF_FLAG_CONTINUE
#error "seccomp-loop: expected <linux/seccomp.h> of Linux 5.5 or later"
#endif

#define COMPARISONS 50
#define NO_CALL 0x7fff0000 /* no system call has such a number */
#define MOST_INSTRUCTIONS (COMPARISONS + 7)

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
#define UNLESS_EQUAL_SKIP(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped)

/* Of an argument the low half alone: which half it is does not matter, as both answers are the same. */
#define FIRST_ARGUMENT args[0]

struct variant {
	const char *name;
	int comparisons, argument, asks;
};

static const struct variant VARIANTS[] = {
	{"allow", 0, 0, 0}, {"list", COMPARISONS, 0, 0}, {"argument", 0, 1, 0},
	{"list-argument", COMPARISONS, 1, 0}, {"notify", 0, 0, 1},
};

static const struct variant *variant(const char *name)
{
	for (size_t place = 0; place < sizeof(VARIANTS) / sizeof(VARIANTS[0]); place++)
		if (strcmp(name, VARIANTS[place].name) == 0)
			return &VARIANTS[place];
	fprintf(stderr, PROGRAM ": %s: expected allow, list, argument, list-argument or notify\n", name);
	exit(2);
}

/* Writes the filter, and returns how many instructions it has. Each way through it ends at the last one. */
static unsigned short write_filter(struct sock_filter *filter, const struct variant *what, int asks)
{
	unsigned short length = 0, after_list = what->argument ? 3 : 0;

#define ADD(...) filter[length++] = (struct sock_filter)__VA_ARGS__
	ADD(LOAD(nr));
	for (int left = what->comparisons - 1; left >= 0; left--)
		ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NO_CALL + (unsigned int)left, (unsigned char)(left + after_list), 0));
	if (what->argument) {
		ADD(UNLESS_EQUAL_SKIP(__NR_getppid, 2));
		ADD(LOAD(FIRST_ARGUMENT));
		ADD(UNLESS_EQUAL_SKIP(NO_CALL, 0));
	}
	if (asks) {
		ADD(UNLESS_EQUAL_SKIP(__NR_getppid, 1));
		ADD(RETURN(SECCOMP_RET_USER_NOTIF));
	}
	ADD(RETURN(SECCOMP_RET_ALLOW));
#undef ADD
	return length;
}

/* Returns the listener of a filter that asks, else 0. */
static int install(const struct variant *what, int asks)
{
	struct sock_filter instructions[MOST_INSTRUCTIONS];
	struct sock_fprog filter = {.len = write_filter(instructions, what, asks), .filter = instructions};
	long made = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, asks ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0, &filter);

	if (made < 0)
		die("seccomp");
	return (int)made;
}

/* Answers every call that waits, until it is ended. */
static void supervise(int told)
{
	struct seccomp_notif asked;
	struct seccomp_notif_resp answer;
	int listener;

	if (read(told, &listener, sizeof(listener)) != (ssize_t)sizeof(listener))
		_exit(1);
	for (;;) {
		memset(&asked, 0, sizeof(asked)); /* the kernel demands it */
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0)
			_exit(1);
		memset(&answer, 0, sizeof(answer));
		answer.id = asked.id;
		answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0)
			_exit(1);
	}
}

/* Starts the supervisor, which has no filter and shares our table of files: so it is told the listener's number alone.
 * Its CPU time is not added to ours, because nobody waits for it. */
static pid_t start_supervisor(int *tell)
{
	int ends[2];
	pid_t parent = getpid(), pid;

	if (pipe(ends) != 0 || signal(SIGCHLD, SIG_IGN) == SIG_ERR)
		die("pipe");
	pid = (pid_t)syscall(__NR_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (pid < 0)
		die("clone");
	if (pid == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
			_exit(1);
		supervise(ends[0]);
	}
	*tell = ends[1];
	return pid;
}

/* Installs the filters and returns the supervisor of the last one, or 0. */
static pid_t install_all(long filters, const struct variant *what)
{
	int tell = -1, listener = 0;
	pid_t supervisor = what->asks ? start_supervisor(&tell) : 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		die("PR_SET_NO_NEW_PRIVS");
	for (long left = filters; left > 0; left--)
		listener = install(what, what->asks && left == 1);
	if (what->asks && write(tell, &listener, sizeof(listener)) != (ssize_t)sizeof(listener))
		die("pipe");
	return supervisor;
}

static uint64_t time_operations(long operations)
{
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++)
		(void)getppid();
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc == 5 ? 4 : argc, argv, " [FILTERS [VARIANT]]");
	long filters = argc > 3 ? number(argv[3], 1) : 0;
	pid_t supervisor = argc > 4 ? install_all(filters, variant(argv[4])) : 0;
	uint64_t wall_ns;

	wait_for_go();
	wall_ns = time_operations(operations);
	if (supervisor > 0) {
		kill(supervisor, SIGKILL);
		waitpid(supervisor, NULL, 0); /* returns when it is gone */
	}
	print_run(operations, wall_ns);
	return 0;
}
