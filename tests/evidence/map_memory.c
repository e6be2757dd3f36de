// Makes BPF maps and a tracer's perf buffers, one after the other, and prints of each what the kernel says that it takes,
// and by how much less memory is free. Columns, parted by tabs: type, bytes of a key, bytes of a value, entries, flags,
// possible CPUs, CPUs, bytes of a page, memlock, bytes that were free before.
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENTRIES 131072
#define PAGES 64  // of one CPU's buffer, as bpftrace 0.17 has it
#define MOST_CPUS 1024

struct wanted { unsigned kind, key, value, entries, flags; };

static const struct wanted maps[] = {
	{BPF_MAP_TYPE_ARRAY, 4, 64, ENTRIES, 0},
	{BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, ENTRIES, 0},
	{BPF_MAP_TYPE_HASH, 8, 8, ENTRIES, 0},
	{BPF_MAP_TYPE_HASH, 8, 8, ENTRIES, BPF_F_NO_PREALLOC},
	{BPF_MAP_TYPE_PERCPU_HASH, 8, 8, ENTRIES, 0},
	{BPF_MAP_TYPE_LRU_HASH, 8, 8, ENTRIES, 0},
	{BPF_MAP_TYPE_STACK_TRACE, 4, 127 * 8, ENTRIES / 8, 0},
	{BPF_MAP_TYPE_RINGBUF, 0, 0, 16 << 20, 0},
};

static long long sum(const char *path, const char *name)  // of the numbers behind `name`, where a line begins with it
{
	char line[256];
	long long found = 0;
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file)) {
		const char *start = line + strspn(line, " ");
		if (!strncmp(start, name, strlen(name)))
			found += strtoll(start + strlen(name), NULL, 10);
	}
	if (file)
		fclose(file);
	return found;
}

static long long free_bytes(void)
{
	sum("/proc/sys/vm/stat_refresh", "");  // adds up what each CPU has counted (Documentation/admin-guide/sysctl/vm.rst)
	// The second are pages that a CPU keeps free for itself, which the first are without.
	return sum("/proc/meminfo", "MemFree:") * 1024 + sum("/proc/zoneinfo", "count:") * sysconf(_SC_PAGESIZE);
}

static int possible_cpus(void)
{
	int first = 0, last = 0;
	FILE *file = fopen("/sys/devices/system/cpu/possible", "r");
	if (file && fscanf(file, "%d-%d", &first, &last) < 2)
		last = first;
	if (file)
		fclose(file);
	return last + 1;
}

static int create(const struct wanted *map)
{
	union bpf_attr a;
	memset(&a, 0, sizeof a);
	a.map_type = map->kind, a.key_size = map->key, a.value_size = map->value;
	a.max_entries = map->entries, a.map_flags = map->flags;
	int fd = syscall(SYS_bpf, BPF_MAP_CREATE, &a, sizeof a);
	if (fd < 0) {
		fprintf(stderr, "a map of type %u: %s\n", map->kind, strerror(errno));
		exit(1);
	}
	for (unsigned long i = 0; map->flags & BPF_F_NO_PREALLOC && i < map->entries; i++) {
		unsigned long key = i, value = i;
		memset(&a, 0, sizeof a);
		a.map_fd = fd, a.key = (unsigned long)&key, a.value = (unsigned long)&value;
		syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &a, sizeof a);
	}
	return fd;
}

static void row(const struct wanted *map, long long memlock, long long taken)
{
	printf("%u\t%u\t%u\t%u\t%u\t%d\t%ld\t%ld\t%lld\t%lld\n", map->kind, map->key, map->value, map->entries, map->flags,
	       possible_cpus(), sysconf(_SC_NPROCESSORS_ONLN), sysconf(_SC_PAGESIZE), memlock, taken);
	fflush(stdout);
}

static void buffers(void)
{
	static int events[MOST_CPUS];
	static void *rings[MOST_CPUS];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), bytes = (1 + PAGES) * sysconf(_SC_PAGESIZE);
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_BPF_OUTPUT, .size = sizeof a};
	long long before = free_bytes();
	for (long cpu = 0; cpu < cpus; cpu++) {
		events[cpu] = syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		rings[cpu] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, events[cpu], 0);
		if (rings[cpu] == MAP_FAILED) {
			fprintf(stderr, "the buffer of CPU %ld: %s\n", cpu, strerror(errno));
			exit(1);
		}
	}
	const struct wanted map = {BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, cpus, 0};
	row(&map, -1, before - free_bytes());
}

int main(void)
{
	create(&maps[0]);  // what the first map of all makes is none of a map's
	for (unsigned i = 0; i < sizeof maps / sizeof *maps; i++) {
		char path[64];
		long long before = free_bytes();
		int fd = create(&maps[i]);
		long long after = free_bytes();
		snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
		row(&maps[i], sum(path, "memlock:"), before - after);  // kept: what is freed is not free at once
	}
	buffers();
}
