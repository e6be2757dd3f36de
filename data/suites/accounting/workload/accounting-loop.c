/*
 * accounting-loop: makes context switches or writes, while the kernel keeps one more account of them or not.
 *
 * Use:    accounting-loop OPERATIONS CPU EVENT [ACCOUNT]  waits on standard input for one byte ("go"), then runs
 *         accounting-loop --clock READS CPU               times READS reads of the clock itself
 *         EVENT: switch, a byte to another process on the same CPU, and back; write, 64 bytes to a file.
 *         ACCOUNT: of switch: delays (kernel.task_delayacct) or schedstats (kernel.sched_schedstats); of write:
 *         marker-off or marker (trace_marker of an instance of tracefs, whose tracing is off or on). Without one the
 *         kernel's switch is off, and what is written goes to /dev/null.
 * Needs:  Linux and root; a kernel with the account.
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *         loop alone, U and S are the CPU time of this process by getrusage(2), without the other's.
 * Why:    Tasks are given their account of delays when they are forked (kernel/delayacct.c), so the other process is
 *         started after the switch is set. The switch is put back by a process that waits for our end, however we end.
 */

#define PROGRAM "accounting-loop"
#include "../../loop.h"
#include "../../guard.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>

#define INSTANCES "/sys/kernel/tracing/instances"
#define WRITTEN_BYTES 64

struct account {
	const char *event;
	const char *name;
	const char *file; /* the kernel's switch */
	const char *value;
};

static const struct account accounts[] = {
	{"switch", "", "/proc/sys/kernel/task_delayacct", "0"},
	{"switch", "delays", "/proc/sys/kernel/task_delayacct", "1"},
	{"switch", "schedstats", "/proc/sys/kernel/sched_schedstats", "1"},
	{"write", "", NULL, NULL},
	{"write", "marker-off", "tracing_on", "0"},
	{"write", "marker", "tracing_on", "1"},
};

static char instance[64]; /* of tracefs: our own, by our number */
static char file[128], before[16]; /* the switch, and how it was */

static const struct account *account_of(const char *event, const char *name)
{
	for (size_t place = 0; place < sizeof(accounts) / sizeof(*accounts); place++)
		if (strcmp(accounts[place].event, event) == 0 && strcmp(accounts[place].name, name) == 0)
			return &accounts[place];
	fprintf(stderr, PROGRAM ": %s %s: expected switch with delays or schedstats, or write with marker-off or marker\n",
	        event, name);
	exit(2);
}

static void set(const char *path, const char *value)
{
	int fd = open_or_die(path, O_WRONLY);

	if (write(fd, value, strlen(value)) != (ssize_t)strlen(value))
		die(path);
	close(fd);
}

static void undo(void)
{
	if (*instance == '\0')
		set(file, before);
	else
		remove_folder(instance);
}

/* Sets the switch of an account, in an instance of our own where it is one of ftrace's. */
static struct guard switch_to(const struct account *account)
{
	struct guard made;
	int fd;

	if (strcmp(account->event, "write") == 0) {
		snprintf(instance, sizeof(instance), INSTANCES "/probe-effect-%d", (int)getpid());
		if (mkdir(instance, 0700) != 0)
			die(instance);
		snprintf(file, sizeof(file), "%s/%s", instance, account->file);
	} else {
		snprintf(file, sizeof(file), "%s", account->file);
	}
	fd = open_or_die(file, O_RDONLY);
	if (read(fd, before, sizeof(before) - 1) <= 0)
		die(file);
	close(fd);
	made = guard_with(undo);
	set(file, account->value);
	return made;
}

static void echo(int in, int out)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(in, &byte, 1) == 1)
		if (write(out, &byte, 1) != 1)
			break;
	_exit(0);
}

static uint64_t time_switches(long operations)
{
	int there[2], back[2];
	uint64_t start_ns;
	char byte = 0;
	pid_t other;

	if (pipe2(there, O_CLOEXEC) != 0 || pipe2(back, O_CLOEXEC) != 0 || (other = fork()) < 0)
		die("another process");
	if (other == 0) {
		close(there[1]);
		echo(there[0], back[1]);
	}
	wait_for_go();
	start_ns = now_ns();
	for (long done = 0; done < operations; done++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			die("a byte there and back");
	start_ns = now_ns() - start_ns;
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	return start_ns;
}

static uint64_t time_writes(long operations)
{
	char path[128] = "/dev/null";
	static const char line[WRITTEN_BYTES + 1] = "B|4711|a section of a program that marks what it does as many do";
	uint64_t start_ns;
	int fd;

	if (*instance != '\0')
		snprintf(path, sizeof(path), "%s/trace_marker", instance);
	fd = open_or_die(path, O_WRONLY);
	wait_for_go();
	start_ns = now_ns();
	for (long done = 0; done < operations; done++) {
		ssize_t written = write(fd, line, WRITTEN_BYTES);

		/* Where tracing is off, trace_marker refuses each write with EBADF (tracing_mark_write, trace.c). */
		if (written != WRITTEN_BYTES && !(written < 0 && errno == EBADF))
			die(path);
	}
	start_ns = now_ns() - start_ns;
	close(fd); /* an instance with an open file is not removed */
	return start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc == 5 ? 4 : argc, argv, " EVENT [ACCOUNT]");
	const struct account *account = account_of(argc > 3 ? argv[3] : "", argc > 4 ? argv[4] : "");
	struct guard guard = {-1, -1};
	uint64_t wall_ns;

	if (account->file != NULL)
		guard = switch_to(account);
	wall_ns = strcmp(account->event, "switch") == 0 ? time_switches(operations) : time_writes(operations);
	print_run(operations, wall_ns);
	if (account->file != NULL)
		end_guard(guard);
	return 0;
}
