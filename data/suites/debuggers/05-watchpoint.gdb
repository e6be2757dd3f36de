# 05-watchpoint: The processor stops the workload at each read of the variable sink; gdb counts and lets it go on.
#
# Use:    gdb -batch -nx -p PID -x 05-watchpoint.gdb, PID being the waiting user-loop
# Needs:  gdb, and a kernel that lets one process trace another (see kernel.yama.ptrace_scope).
# Read:   "count N" at the end is the number of stops.
# Source: Written for this suite; the documentation of gdb, "Breakpoint Command Lists", "Break Conditions", "Dynamic Printf".

set $count = 0
set can-use-hw-watchpoints 1
rwatch *(long *) &sink
commands
silent
set $count = $count + 1
continue
end
echo live\n
continue
printf "count %d\n", $count
