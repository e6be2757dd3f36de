/*
 * rounds.h: has a program in another language do its rounds, and times all of them together.
 *
 * Use:    #include "../../rounds.h" after "../../loop.h"; `main` calls begin, finds language and command, and returns
 *         time_program.
 *         A program does some rounds, says "!", and for each line with a number does so many and says "!" again.
 * Why:    The program is started, and its compiler has seen enough rounds, before this program waits for its go: what
 *         is timed is the steady state. It is the one child of this program, so a profiler finds it by its parent. It
 *         has all its threads on the one CPU that it was told: what is done in it makes the rounds longer.
 */

#ifndef PROBE_EFFECT_ROUNDS_H
#define PROBE_EFFECT_ROUNDS_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>

struct language {
	const char *name;
	const char *file;
	const char *text;
	const char *build; /* a command of sh(1), in the folder of the file */
};

/* How a program is started, as it is or as a variant; the command is sh(1)'s. */
struct start {
	const char *language;
	const char *variant;
	const char *command;
};

#define MANY(array) (sizeof(array) / sizeof(*(array)))

/* The system's own programs, whatever stands before them on the caller's path, and those that were put there for suites;
 * a profiler that is installed apart is on the caller's. */
#define SYSTEM_PATH "/usr/sbin:/usr/bin:/sbin:/bin:/opt/probe-effect/bin"

/* The command of a variant, which is "" for the program as it is. */
static const char *command_of(const struct start *starts, size_t many, const struct language *language, const char *variant)
{
	for (size_t place = 0; place < many; place++)
		if (strcmp(starts[place].language, language->name) == 0 && strcmp(starts[place].variant, variant) == 0)
			return starts[place].command;
	fprintf(stderr, PROGRAM ": %s: %s has no such variant here\n", variant, language->name);
	exit(2);
}

/* Starts a command of sh(1), with these for its standard input and output. */
static pid_t start(const char *command, int in, int out)
{
	const char *callers = getenv("PATH");
	char path[8192];
	pid_t us = getpid(), pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		/* Whatever becomes of us: nothing that we started is left. */
		if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != us)
			_exit(126);
		if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
			_exit(126);
		snprintf(path, sizeof(path), "%s:%s", SYSTEM_PATH, callers != NULL ? callers : "");
		setenv("PATH", path, 1);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	return pid;
}

/* Waits for the end of a command. Until the run it is looked for and not slept for: whoever sees this program sleep
 * takes it for one that waits for its "go". */
static void insist(const char *command, pid_t pid, int options)
{
	pid_t ended;
	int status;

	while ((ended = waitpid(pid, &status, options)) == 0 || (ended < 0 && errno == EINTR))
		sched_yield();
	if (ended < 0)
		die("waitpid");
	if (status != 0) {
		fprintf(stderr, PROGRAM ": `%s` ended with status %d\n", command, status);
		exit(1);
	}
}

/* Enters the folder of a language, with its program in it. It is made under another name first: a folder of the right
 * name is a whole one. */
static void prepare(const struct language *language)
{
	char made[64], making[96];
	FILE *file;

	snprintf(made, sizeof(made), PROGRAM "-%s", language->name);
	if (chdir(made) == 0)
		return;
	snprintf(making, sizeof(making), "%s.%ld", made, (long)getpid());
	if (mkdir(making, 0700) != 0 || chdir(making) != 0)
		die(making);
	file = fopen(language->file, "w");
	if (file == NULL || fputs(language->text, file) < 0 || fclose(file) != 0)
		die(language->file);
	insist(language->build, start(language->build, open_or_die("/dev/null", O_RDONLY), STDERR_FILENO), WNOHANG);
	if (chdir("..") != 0 || rename(making, made) != 0 || chdir(made) != 0)
		die(made);
}

/* Returns when the program has said "!"; a descriptor that does not block is looked at again and again. */
static void await(int answers)
{
	char said = 0;
	ssize_t got;

	while (said != '!') {
		got = read(answers, &said, 1);
		if (got < 0 && errno == EAGAIN)
			sched_yield();
		else if (got < 0 && errno != EINTR)
			die("read");
		else if (got == 0) {
			fprintf(stderr, PROGRAM ": the program ended before its rounds were done\n");
			exit(1);
		}
	}
}

static uint64_t time_rounds(long rounds, int orders, int answers)
{
	uint64_t start_ns = now_ns();

	if (dprintf(orders, "%ld\n", rounds) < 0)
		die("write");
	await(answers);
	return now_ns() - start_ns;
}

static void print_all(long operations, uint64_t wall_ns)
{
	struct rusage own, theirs;

	if (getrusage(RUSAGE_SELF, &own) != 0 || getrusage(RUSAGE_CHILDREN, &theirs) != 0)
		die("getrusage");
	printf("{\"operations\": %ld, \"wall_ns\": %" PRIu64 ", \"user_ns\": %" PRIu64 ", \"sys_ns\": %" PRIu64 "}\n", operations,
	       wall_ns, in_ns(own.ru_utime) + in_ns(theirs.ru_utime), in_ns(own.ru_stime) + in_ns(theirs.ru_stime));
}

/* The language of a level that is named as it is. */
static inline const struct language *language_named(const struct language *languages, size_t many, const char *level)
{
	for (size_t place = 0; place < many; place++)
		if (strcmp(languages[place].name, level) == 0)
			return &languages[place];
	fprintf(stderr, PROGRAM ": %s: expected one of:", level);
	for (size_t place = 0; place < many; place++)
		fprintf(stderr, " %s", languages[place].name);
	fprintf(stderr, "\n");
	exit(2);
}

/* Has the command do the rounds, on our "go", and prints the run; returns what `main` does. */
static int time_program(long operations, const struct language *language, const char *command)
{
	int orders[2], answers[2];
	uint64_t wall_ns;
	pid_t program;

	prepare(language);
	if (pipe2(orders, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0)
		die("pipe");
	signal(SIGPIPE, SIG_IGN);
	program = start(command, orders[0], answers[1]);
	close(orders[0]);
	close(answers[1]);
	fcntl(answers[0], F_SETFL, O_NONBLOCK);
	await(answers[0]);
	fcntl(answers[0], F_SETFL, 0);
	wait_for_go();
	wall_ns = time_rounds(operations, orders[1], answers[0]);
	close(orders[1]);
	insist(command, program, 0);
	print_all(operations, wall_ns);
	return 0;
}

#endif
