"""The system calls that a process with limits may not make, with their numbers on x86-64 and on 64-bit ARM.

The numbers are those of Linux's ``unistd_64.h`` and ``asm-generic/unistd.h``; ``-``: the machine has no such call.
"""

import re

_REFUSED = """
# connections; the socket to the caller is open already, and writing to it needs none of these
socket 41 198 | socketpair 53 199 | connect 42 203 | bind 49 200 | listen 50 201 | accept 43 202 | accept4 288 242
sendmsg 46 211 | sendmmsg 307 269
# new processes and programs, and other processes' memory, priorities and signals
fork 57 - | vfork 58 - | execve 59 221 | execveat 322 281 | ptrace 101 117 | process_vm_readv 310 270
process_vm_writev 311 271 | process_madvise 440 440 | process_mrelease 448 448 | pidfd_open 434 434
pidfd_getfd 438 438 | pidfd_send_signal 424 424 | kcmp 312 272 | tkill 200 130 | rt_sigqueueinfo 129 138
rt_tgsigqueueinfo 297 240 | setpriority 141 140 | ioprio_set 251 30 | sched_setaffinity 203 122
sched_setparam 142 118 | sched_setscheduler 144 119 | sched_setattr 314 274 | migrate_pages 256 238
move_pages 279 239
# memory and messages that other processes share
shmget 29 194 | shmat 30 196 | shmctl 31 195 | semget 64 190 | semop 65 193 | semctl 66 191 | semtimedop 220 192
msgget 68 186 | msgsnd 69 189 | msgrcv 70 188 | msgctl 71 187 | mq_open 240 180 | mq_unlink 241 181
# memory beside the limit, and news of other folders
memfd_create 319 279 | memfd_secret 447 447 | mlock 149 228 | mlock2 325 284 | mlockall 151 230 | inotify_init 253 -
inotify_init1 294 26 | inotify_add_watch 254 27
# what Landlock does not cover of files: their modes, owners, times and attributes, devices, and handles
chmod 90 - | fchmod 91 52 | fchmodat 268 53 | chown 92 - | fchown 93 55 | lchown 94 - | fchownat 260 54
setxattr 188 5 | lsetxattr 189 6 | fsetxattr 190 7 | removexattr 197 14 | lremovexattr 198 15 | fremovexattr 199 16
utime 132 - | utimes 235 - | futimesat 261 - | utimensat 280 88 | truncate 76 45 | mknod 133 - | mknodat 259 33
name_to_handle_at 303 264 | open_by_handle_at 304 265 | fanotify_init 300 262
# the system itself, and its less used interfaces
mount 165 40 | umount2 166 39 | pivot_root 155 41 | chroot 161 51 | mount_setattr 442 442 | move_mount 429 429
open_tree 428 428 | fsopen 430 430 | fsconfig 431 431 | fsmount 432 432 | fspick 433 433 | unshare 272 97
setns 308 268 | bpf 321 280 | perf_event_open 298 241 | userfaultfd 323 282 | io_uring_setup 425 425
io_uring_enter 426 426 | io_uring_register 427 427 | keyctl 250 219 | add_key 248 217 | request_key 249 218
init_module 175 105 | finit_module 313 273 | delete_module 176 106 | kexec_load 246 104 | kexec_file_load 320 294
reboot 169 142 | swapon 167 224 | swapoff 168 225 | acct 163 89 | quotactl 179 60 | quotactl_fd 443 443
settimeofday 164 170 | clock_settime 227 112 | clock_adjtime 305 266 | adjtimex 159 171 | sethostname 170 161
setdomainname 171 162 | iopl 172 - | ioperm 173 - | modify_ldt 154 - | personality 135 92 | syslog 103 116
vhangup 153 58 | setuid 105 146 | setgid 106 144 | setreuid 113 145 | setregid 114 143 | setresuid 117 147
setresgid 119 149 | setfsuid 122 151 | setfsgid 123 152 | setgroups 116 159 | capset 126 91
"""

REFUSED: dict[str, tuple[int | None, int | None]] = {
    name: (None if x86 == "-" else int(x86), None if arm == "-" else int(arm))
    for name, x86, arm in re.findall(r"(\w+) (\d+|-) (\d+|-)", _REFUSED)
}
"""Calls that fail with EPERM."""

ONLY_ITSELF: dict[str, tuple[int, int]] = {"kill": (62, 129), "tgkill": (234, 131), "prlimit64": (302, 261)}
"""Calls whose first argument must be the process itself; ``prlimit64`` knows it as 0 too."""
CLONE, CLONE3, FCNTL, IOCTL = (56, 220), (435, 435), (72, 25), (16, 29)
NEWEST = 451
"""Calls with a higher number are unknown here, and fail as if the kernel did not have them."""
