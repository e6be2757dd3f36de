/*
 * packet-loop: sends itself a packet over the loopback interface, many times, past a BPF program or none.
 *
 * Use:    packet-loop OPERATIONS CPU TRANSPORT [HOOK]  waits on standard input for one byte ("go"), then runs
 *         packet-loop --clock READS CPU                times READS reads of the clock itself
 *         TRANSPORT: udp, one datagram of 64 bytes; connection, one TCP connection, made, accepted and closed.
 *         HOOK: one of those below, which lets everything pass; with -count at its end it counts in a map too.
 * Needs:  Linux and root. The hooks named tc need Linux 6.6 (tcx), those of a cgroup a cgroup2 file system.
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *         loop alone, U and S are the CPU time of this process by getrusage(2).
 * Why:    Before the hook is measured, a program that counts is attached in its place and one operation made: if it has
 *         counted nothing, the run ends with that message. Programs and links go when this process ends; its own cgroup
 *         is removed by a process that waits for that.
 */

#define PROGRAM "packet-loop"
#include "../../loop.h"
#include "../../guard.h"

#include <arpa/inet.h>
#include <linux/bpf.h>
#include <mntent.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define PACKET_BYTES 64
#define ENOUGH_OPERATIONS 3

/* From include/uapi/linux/bpf.h, for headers that are older than the kernel: tcx has come with Linux 6.6. */
#define TCX_INGRESS 46
#define TCX_EGRESS 47

enum place { SOCKET, GROUP, DEVICE };

struct hook {
	const char *transport;
	const char *name;
	enum place place;
	uint32_t program_type;
	uint32_t attach_type;
	uint32_t flags;
	int32_t answer; /* with which everything passes */
};

static const struct hook hooks[] = {
	{"udp", "socket-filter", SOCKET, BPF_PROG_TYPE_SOCKET_FILTER, 0, 0, -1},
	{"udp", "cgroup-ingress", GROUP, BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_INGRESS, 0, 1},
	{"udp", "cgroup-egress", GROUP, BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_EGRESS, 0, 1},
	{"udp", "tc-ingress", DEVICE, BPF_PROG_TYPE_SCHED_CLS, TCX_INGRESS, 0, 0},
	{"udp", "tc-egress", DEVICE, BPF_PROG_TYPE_SCHED_CLS, TCX_EGRESS, 0, 0},
	{"udp", "xdp", DEVICE, BPF_PROG_TYPE_XDP, BPF_XDP, 2 /* XDP_FLAGS_SKB_MODE */, XDP_PASS},
	{"connection", "sock-ops", GROUP, BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_SOCK_OPS, 0, 1},
};

struct sockets {
	int receiver;
	int sender;
	struct sockaddr_in to;
};

static int bpf(int command, union bpf_attr *words)
{
	return (int)syscall(SYS_bpf, command, words, sizeof(*words));
}

static int new_map(void)
{
	union bpf_attr words = {.map_type = BPF_MAP_TYPE_PERCPU_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1};
	int fd = bpf(BPF_MAP_CREATE, &words);

	if (fd < 0)
		die("a BPF map");
	return fd;
}

/* What the programs of all CPUs have counted. */
static uint64_t counted(int map)
{
	static uint64_t values[4096];
	uint32_t key = 0;
	union bpf_attr words = {.map_fd = (uint32_t)map, .key = (uint64_t)(uintptr_t)&key,
	                        .value = (uint64_t)(uintptr_t)values};
	uint64_t sum = 0;

	if (bpf(BPF_MAP_LOOKUP_ELEM, &words) != 0)
		die("a BPF map");
	for (size_t place = 0; place < sizeof(values) / sizeof(*values); place++)
		sum += values[place];
	return sum;
}

#define INSTRUCTION(CODE, TO, FROM, OFFSET, VALUE) \
	((struct bpf_insn){.code = (CODE), .dst_reg = (TO), .src_reg = (FROM), .off = (OFFSET), .imm = (VALUE)})

/* A program that answers `answer`, after it has counted in `map` where that is one. */
static int load(const struct hook *hook, int map)
{
	struct bpf_insn code[16];
	static char log[4096];
	uint32_t many = 0;

	if (map >= 0) {
		code[many++] = INSTRUCTION(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0);
		code[many++] = INSTRUCTION(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map);
		code[many++] = INSTRUCTION(0, 0, 0, 0, 0); /* the second half of the address */
		code[many++] = INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0);
		code[many++] = INSTRUCTION(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4);
		code[many++] = INSTRUCTION(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem);
		code[many++] = INSTRUCTION(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 3, 0);
		code[many++] = INSTRUCTION(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_0, 0, 0);
		code[many++] = INSTRUCTION(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, 1);
		code[many++] = INSTRUCTION(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_1, 0, 0);
	}
	code[many++] = INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, hook->answer);
	code[many++] = INSTRUCTION(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);

	union bpf_attr words = {.prog_type = hook->program_type, .insns = (uint64_t)(uintptr_t)code, .insn_cnt = many,
	                        .license = (uint64_t)(uintptr_t)"GPL", .log_buf = (uint64_t)(uintptr_t)log,
	                        .log_size = sizeof(log), .log_level = 1,
	                        .expected_attach_type = hook->place == SOCKET ? 0 : hook->attach_type};
	int fd = bpf(BPF_PROG_LOAD, &words);

	if (fd < 0) {
		fputs(log, stderr);
		die("a BPF program");
	}
	return fd;
}

static char above[512]; /* where cgroup2 is mounted first */
static char folder[560]; /* our own group below it */

static void move_to(const char *group)
{
	char path[600], own[32];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	fd = open_or_die(path, O_WRONLY);
	snprintf(own, sizeof(own), "%d", (int)getpid());
	if (write(fd, own, strlen(own)) < 0)
		die(path);
	close(fd);
}

static void undo(void)
{
	remove_folder(folder);
}

/* Makes a cgroup of our own and puts this process into it. */
static struct guard enter_group(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *mount;
	struct guard made;

	while (mounts != NULL && *above == '\0' && (mount = getmntent(mounts)) != NULL)
		if (strcmp(mount->mnt_type, "cgroup2") == 0)
			snprintf(above, sizeof(above), "%s", mount->mnt_dir);
	if (*above == '\0') {
		fprintf(stderr, PROGRAM ": no cgroup2 file system is mounted\n");
		exit(1);
	}
	snprintf(folder, sizeof(folder), "%s/probe-effect-%d", above, (int)getpid());
	if (mkdir(folder, 0700) != 0)
		die(folder);
	made = guard_with(undo);
	move_to(folder);
	return made;
}

/* Attaches; what is returned is a link, which lives as long as its descriptor, or the socket. */
static int attach(const struct hook *hook, int program, int group, const struct sockets *sockets)
{
	union bpf_attr words = {.link_create = {.prog_fd = (uint32_t)program, .attach_type = hook->attach_type,
	                                        .flags = hook->flags}};
	int link;

	if (hook->place == SOCKET) {
		if (setsockopt(sockets->receiver, SOL_SOCKET, SO_ATTACH_BPF, &program, sizeof(program)) != 0)
			die("SO_ATTACH_BPF");
		return -1;
	}
	words.link_create.target_fd = hook->place == GROUP ? (uint32_t)group : if_nametoindex("lo");
	link = bpf(BPF_LINK_CREATE, &words);
	if (link < 0)
		die("attach");
	return link;
}

static void detach(int link, const struct sockets *sockets)
{
	int nothing = 0;

	if (link >= 0)
		close(link);
	else
		setsockopt(sockets->receiver, SOL_SOCKET, SO_DETACH_BPF, &nothing, sizeof(nothing));
}

static struct sockets open_sockets(int type)
{
	struct sockets made = {.to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(made.to);

	made.receiver = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	if (made.receiver < 0 || bind(made.receiver, (struct sockaddr *)&made.to, length) != 0 ||
	    getsockname(made.receiver, (struct sockaddr *)&made.to, &length) != 0)
		die("a socket");
	if (type == SOCK_STREAM) {
		if (listen(made.receiver, 8) != 0)
			die("listen");
		return made;
	}
	made.sender = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	if (made.sender < 0 || connect(made.sender, (struct sockaddr *)&made.to, length) != 0)
		die("a socket");
	return made;
}

static void send_packet(const struct sockets *sockets)
{
	char packet[PACKET_BYTES] = "";

	if (send(sockets->sender, packet, sizeof(packet), 0) != sizeof(packet) ||
	    recv(sockets->receiver, packet, sizeof(packet), 0) != sizeof(packet))
		die("a packet");
}

/* The side that closes first keeps the address for a minute unless it resets the connection: SO_LINGER of 0 s. */
static void make_connection(const struct sockets *sockets)
{
	struct linger at_once = {.l_onoff = 1, .l_linger = 0};
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), server;

	if (client < 0 || connect(client, (const struct sockaddr *)&sockets->to, sizeof(sockets->to)) != 0 ||
	    (server = accept(sockets->receiver, NULL, NULL)) < 0 ||
	    setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) != 0)
		die("a connection");
	close(client);
	close(server);
}

static uint64_t time_operations(long operations, const struct sockets *sockets, int is_packet)
{
	uint64_t start_ns = now_ns();

	if (is_packet)
		for (long done = 0; done < operations; done++)
			send_packet(sockets);
	else
		for (long done = 0; done < operations; done++)
			make_connection(sockets);
	return now_ns() - start_ns;
}

static const struct hook *hook_of(const char *transport, const char *name, int *counts)
{
	size_t length = strlen(name), tail = strlen("-count");

	*counts = length > tail && strcmp(name + length - tail, "-count") == 0;
	length -= *counts ? tail : 0;
	for (size_t place = 0; place < sizeof(hooks) / sizeof(*hooks); place++)
		if (strcmp(hooks[place].transport, transport) == 0 && strlen(hooks[place].name) == length &&
		    strncmp(hooks[place].name, name, length) == 0)
			return &hooks[place];
	fprintf(stderr, PROGRAM ": %s: %s has no such hook\n", name, transport);
	exit(2);
}

int main(int argc, char **argv)
{
	long operations = begin(argc == 5 ? 4 : argc, argv, " TRANSPORT [HOOK]");
	const char *transport = argc > 3 ? argv[3] : "";
	int is_packet = strcmp(transport, "udp") == 0, counts = 0, map = -1, group, link;
	const struct hook *hook = argc > 4 ? hook_of(transport, argv[4], &counts) : NULL;
	struct sockets sockets;
	struct guard guard;
	uint64_t wall_ns;

	if (!is_packet && strcmp(transport, "connection") != 0) {
		fprintf(stderr, PROGRAM ": %s: expected udp or connection\n", transport);
		return 2;
	}
	guard = enter_group(); /* without a hook too: being in it must not be part of a hook's cost */
	group = open_or_die(folder, O_RDONLY | O_DIRECTORY);
	sockets = open_sockets(is_packet ? SOCK_DGRAM : SOCK_STREAM);
	if (hook != NULL) {
		map = new_map();
		link = attach(hook, load(hook, map), group, &sockets);
		time_operations(ENOUGH_OPERATIONS, &sockets, is_packet);
		if (counted(map) < ENOUGH_OPERATIONS) {
			fprintf(stderr, PROGRAM ": %s: a program there counted no packets of ours\n", argv[4]);
			return 1;
		}
		if (!counts) {
			detach(link, &sockets);
			attach(hook, load(hook, -1), group, &sockets);
		}
	}
	wait_for_go();
	wall_ns = time_operations(operations, &sockets, is_packet);
	if (counts && counted(map) < (uint64_t)operations) {
		fprintf(stderr, PROGRAM ": %s: counted %" PRIu64 " of %ld operations\n", argv[4], counted(map), operations);
		return 1;
	}
	print_run(operations, wall_ns);
	move_to(above);
	end_guard(guard);
	return 0;
}
