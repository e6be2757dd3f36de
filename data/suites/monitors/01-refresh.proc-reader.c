/*
 * 01-refresh: The table of all processes is read ten times and nothing is done with it: the lower bound.
 *
 * Use:    cc -O2 -o proc-reader 01-refresh.proc-reader.c; proc-reader
 * Needs:  a C compiler, and Linux.
 * Read:   The number of processes, once for each refresh. The program's own CPU time, memory and system calls are the
 *         result: /proc is listed, and /proc/PID/stat of each process opened, read and closed, as ps and top do.
 * Source: written for this suite.
 */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	const struct timespec rest = {0, 100000000};
	char path[300], text[1024];

	for (int refresh = 0; refresh < 10; refresh++) {
		DIR *all = opendir("/proc");
		long processes = 0;

		if (all == NULL)
			return 1;
		for (struct dirent *one; (one = readdir(all)) != NULL;) {
			if (one->d_name[0] < '1' || one->d_name[0] > '9')
				continue;
			snprintf(path, sizeof(path), "%s/stat", one->d_name);
			int file = openat(dirfd(all), path, O_RDONLY | O_CLOEXEC);

			processes += file >= 0 && read(file, text, sizeof(text)) > 0;
			close(file);
		}
		closedir(all);
		printf("%ld processes\n", processes);
		fflush(stdout);
		nanosleep(&rest, NULL);
	}
	return 0;
}
