# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the tests of the jobserver share, in either style. The witness is independent of tsem: each job counts how many are
# in `in`.

# A Makefile with N jobs, in RUNS directories of their own. A job ends once there is `open`, or `go/` and its name.
makefile() {
  mkdir -p in ran go
  cat >job <<'EOF'
#!/bin/bash
trap 'exit 130' INT # bash may forget a SIGINT that comes when its child is just ending
: >"in/$1"
(($(find in -type f | wc -l) <= PERMITS)) || touch fault
until [[ -e open || -e go/$1 ]]; do sleep 0.01; done
rm "in/$1"
: >"ran/$1"
EOF
  chmod +x job
  cat >Makefile <<'EOF'
NAME ?= a
N ?= 0
M ?= 0
JOBS := $(foreach i,$(shell seq $(N)),$(NAME)$(i))
SUBS := $(foreach i,$(shell seq $(M)),sub$(i))
all: $(JOBS)
subs: $(SUBS)
$(JOBS):
	@./job $@
$(SUBS):
	@$(MAKE) --no-print-directory NAME=$@- all
.PHONY: all subs $(JOBS) $(SUBS)
EOF
  export PERMITS=$1
}

running() {
  [[ $(find in -type f | wc -l) -eq $1 ]]
}

expect_ran() {
  expect_equal 'jobs that ran' "$(find ran -type f | wc -l)" "$1"
  [[ ! -e fault ]] || fail 'more jobs ran at once than there are permits'
}

# A job that runs, of those whose names begin so.
running_job() {
  find in -type f -name "$1*" -printf '%f\n' | head -n 1
}

# Waits until the jobserver PID has gone to sleep once more: then it has seen what happened before the call.
sees_everything() {
  local before
  before=$(sleeps "$1")
  eventually has_slept "$1" "$before"
}

sleeps() {
  awk '/^voluntary_ctxt_switches/ { print $2 }' "/proc/$1/status"
}

has_slept() {
  (($(sleeps "$1") > $2))
}

# Programs that are clients, as small as they can be, in both styles. jobs.py has what they share.
#
#   client.py FILE N COMMAND...   claims N tokens, says so by making FILE, and becomes COMMAND
#   build.py NAME N               runs N jobs, as make would: each with a token, but one
client() {
  cat >jobs.py <<'EOF'
import os, re

def connect(flags=0):
    auth = re.findall(r"--jobserver-auth=(\S+)", os.environ["MAKEFLAGS"])[-1]
    if not auth.startswith("fifo:"):
        return [int(fd) for fd in auth.split(",")]
    path = auth[len("fifo:"):]
    return os.open(path, os.O_RDONLY | flags), os.open(path, os.O_WRONLY)
EOF
  cat >client.py <<'EOF'
import os, sys
sys.path.insert(0, ".")
import jobs
tokens, _ = jobs.connect()
for i in range(int(sys.argv[2])):
    os.read(tokens, 1)
open(sys.argv[1], "w").close()
os.execvp(sys.argv[3], sys.argv[3:])
EOF
  cat >build.py <<'EOF'
import os, select, signal, subprocess, sys
sys.path.insert(0, ".")
import jobs
tokens, back = jobs.connect(os.O_NONBLOCK)
todo = [f"{sys.argv[1]}{i}" for i in range(1, int(sys.argv[2]) + 1)]
running = {}  # the job, and the token that it has; one has none

ended, wake = os.pipe()
os.set_blocking(wake, False)
signal.set_wakeup_fd(wake)
signal.signal(signal.SIGCHLD, lambda *_: None)

def claim():
    if None not in running.values():
        return True, None
    try:
        return True, os.read(tokens, 1)
    except BlockingIOError:
        return False, None

while todo or running:
    while todo:
        may, token = claim()
        if not may:
            break
        running[subprocess.Popen(["./job", todo.pop(0)])] = token
    readable, _, _ = select.select([ended] + ([tokens] if todo else []), [], [])
    if ended in readable:
        os.read(ended, 4096)
    for job in [job for job in running if job.poll() is not None]:
        token = running.pop(job)
        if token is not None:
            os.write(back, token)
EOF
}

# A workspace of N crates for cargo, none of which needs another; to be built with RUSTC_WRAPPER=$PWD/wrapper.
crates() {
  local i
  printf '[workspace]\nmembers = ["c*"]\nresolver = "2"\n' >Cargo.toml
  for ((i = 1; i <= $1; i++)); do
    mkdir -p "c$i/src"
    printf '[package]\nname = "c%s"\nversion = "0.1.0"\nedition = "2021"\n' "$i" >"c$i/Cargo.toml"
    echo >"c$i/src/lib.rs"
  done
  printf '#!/bin/bash\n[[ "$*" != *--crate-name\\ c[1-4]* ]] || ./job $$\nexec "$@"\n' >wrapper
  chmod +x wrapper
}

# A client that returns more than it claimed, under a command with these options: it brings nothing.
return_more_than_claimed() {
  tsem create -j 3 "$SEM"
  mkfifo gate
  client
  cat >liar.py <<'EOF'
import os, sys
sys.path.insert(0, ".")
import jobs
tokens, back = jobs.connect()
open("gate").read()
os.write(back, b"++++++")
open("returned", "w").close()
open("gate").read()
os.read(tokens, 1)
open("gate").read()
EOF
  start tsem run "$@" "$SEM" python3 -S liar.py
  eventually is_shown .held 2
  : >gate
  eventually test -e returned
  sees_everything "$PID"
  : >gate
  # The command has one, the client has claimed one, and one is offered: had what came back been believed, one was missing.
  eventually is_shown .held 3
  : >gate
  finish "$PID"
  expect_status 0
  expect_at_rest 3
}
