# 02-breakpoint: The workload stops at each call of the function prologue; gdb counts and lets it go on.
#
# Use:    gdb -batch -nx -p PID -x 02-breakpoint.gdb, PID being the waiting user-loop
# Needs:  gdb, and a kernel that lets one process trace another (see kernel.yama.ptrace_scope).
# Read:   "count N" at the end is the number of stops.
# Source: Written for this suite; the documentation of gdb, "Breakpoint Command Lists", "Break Conditions", "Dynamic Printf".

set $count = 0
break *prologue
commands
silent
set $count = $count + 1
continue
end
echo live\n
continue
printf "count %d\n", $count
