/*
 * guard.h: puts back what a workload has changed in the system, when that has ended, however it has ended.
 *
 * Use:    #include "../../guard.h" after "../../loop.h"; `guard_with` before the change, `end_guard` when all is done.
 * Why:    A process of its own waits for our end, which it sees by a pipe that is open as long as we live.
 */

#ifndef PROBE_EFFECT_GUARD_H
#define PROBE_EFFECT_GUARD_H

#include <sys/types.h>
#include <sys/wait.h>

struct guard {
	pid_t pid;
	int ours; /* the end of the pipe */
};

/* Starts the process that calls `undo` once we have ended. */
static struct guard guard_with(void (*undo)(void))
{
	struct guard made;
	int ends[2];
	char end;

	if (pipe2(ends, O_CLOEXEC) != 0 || (made.pid = fork()) < 0)
		die("another process");
	if (made.pid == 0) {
		setsid();
		/* Whoever waits for the end of what we print does not wait for this one. */
		close(STDIN_FILENO);
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		close(ends[1]);
		while (read(ends[0], &end, 1) < 0 && errno == EINTR)
			continue;
		undo();
		_exit(0);
	}
	close(ends[0]);
	made.ours = ends[1];
	return made;
}

/* Has it put back what is to be put back, and waits for that. */
static void end_guard(struct guard guard)
{
	close(guard.ours);
	waitpid(guard.pid, NULL, 0);
}

/* Removes a folder of the kernel's as soon as nothing is in it. */
static void remove_folder(const char *path)
{
	while (rmdir(path) != 0 && errno == EBUSY)
		usleep(1000);
}

#endif
