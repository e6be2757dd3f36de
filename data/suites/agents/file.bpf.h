/*
 * file.bpf.h: a file's name and path, from the kernel's own types, for the sets that look at files.
 *
 * Use:   #include "file.bpf.h" after agent.bpf.h in a script <case>.bpf.c
 * Needs: a kernel with its types (BTF).
 * Why:   Every name up to the root of the file system is read; where that is mounted is not looked at. The last name
 *        read is compared by its first four characters with the directories that the policy is about.
 * Source: the fields are those of the kernel's <linux/fs.h>, <linux/path.h> and <linux/dcache.h>.
 */

#ifndef FILE_BPF_H
#define FILE_BPF_H

struct qstr {
	const unsigned char *name;
} __attribute__((preserve_access_index));

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
} __attribute__((preserve_access_index));

struct path {
	struct dentry *dentry;
} __attribute__((preserve_access_index));

struct file {
	struct path f_path;
} __attribute__((preserve_access_index));

#define NAMES 8
#define NAME_BYTES 32

/* etc, boot, root, var, usr, lib, home and sbin, as little-endian numbers */
static __always_inline bool is_watched(__u32 name)
{
	return name == 0x637465 || name == 0x746f6f62 || name == 0x746f6f72 || name == 0x726176 || name == 0x727375 ||
	       name == 0x62696c || name == 0x656d6f68 || name == 0x6e696273;
}

/* Reads the names of a file from its own up to the root of its file system, and asks if it is one to be recorded. */
static __always_inline bool is_of_interest(struct file *file)
{
	struct dentry *at = BPF_CORE_READ(file, f_path.dentry);
	union {
		char text[NAME_BYTES];
		__u32 beginning;
	} name = {0};

	for (int step = 0; step < NAMES; step++) {
		struct dentry *parent = BPF_CORE_READ(at, d_parent);

		if (parent == at)
			break;
		bpf_probe_read_kernel_str(name.text, sizeof(name.text), BPF_CORE_READ(at, d_name.name));
		at = parent;
	}
	return is_watched(name.beginning);
}

static __always_inline int look_at(struct file *file)
{
	struct record *record;

	if (!is_of_interest(file))
		return count_of_target();
	record = new_record(0);
	return record && submit(record) == 0 ? count_of_target() : count_dropped();
}

#endif
