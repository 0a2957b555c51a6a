# SPDX-License-Identifier: MIT
# Stores that ask for certificates, or for a user and a password.
# shellcheck disable=SC2016,SC2153 # the inner shells expand these; the helper sets PID
load helper

teardown() {
  end_all
}

# start_store URL OPTION...: another store, of one member.
start_store() {
  start etcd --data-dir store --log-level error --listen-client-urls "$1" --advertise-client-urls "$1" \
    --listen-peer-urls http://127.0.0.1:5380 "${@:2}"
}

# ---- users ----

# As alice, the tests may use all below team/ of a store whose tokens last 1 s.
start_store_with_users() {
  local URL=http://127.0.0.1:5379
  openssl genrsa -out jwt.key 2048 2>/dev/null
  openssl rsa -in jwt.key -pubout -out jwt.pub 2>/dev/null
  start_store $URL --auth-token 'jwt,pub-key=jwt.pub,priv-key=jwt.key,sign-method=RS256,ttl=1s'
  export ETCDCTL_ENDPOINTS=127.0.0.1:5379
  eventually etcdctl endpoint health
  {
    etcdctl user add root:secret-of-root
    etcdctl user grant-role root root
    etcdctl role add team
    etcdctl role grant-permission team --prefix=true readwrite team/
    etcdctl user add alice:wonder
    etcdctl user grant-role alice team
    etcdctl auth enable
  } >/dev/null
  SEM=etcd://127.0.0.1:5379/team/$SEM
  export ETCDCTL_USER=alice:wonder
}

@test "etcd security: a user and a password, which the command does not get" {
  start_store_with_users
  local show='tr "\0" "\n" </proc/$$/environ | grep -e wonder; echo "$ETCDCTL_USER"' option
  tsem create "$SEM"
  for option in -v -F --nested '--on-recovered false'; do
    # shellcheck disable=SC2086 # an option and its argument
    attempt tsem run $option "$SEM" -- bash -c "$show"
    expect_status 0
    expect_out alice
    eventually is_shown .held 0
    [[ $option != -F ]] || tsem run "$SEM" -- true # tells the death
  done
  attempt tsem run "$SEM" -- bash -c "tsem run --nested \"\$TSEM_NAME\" -- bash -c '$show'"
  expect_failure "$SEM: ETCDCTL_USER has no password \(use NAME:PASSWORD, or a file in TSEM_PASSWORD_FILE"
}

@test "etcd security: a password of its own, or in a file, which commands use as well" {
  start_store_with_users
  ETCDCTL_USER=alice ETCDCTL_PASSWORD=wonder attempt tsem create "$SEM"
  expect_status 0
  echo wonder >password
  export ETCDCTL_USER=alice TSEM_PASSWORD_FILE=$PWD/password
  chmod 640 password
  attempt tsem show "$SEM"
  expect_failure "other users can read or change the file of TSEM_PASSWORD_FILE"
  chmod 600 password
  attempt tsem run "$SEM" -- sh -c 'tsem run --nested "$TSEM_NAME" -- tsem show --noheadings --raw -o COUNT "$TSEM_NAME"'
  expect_status 0
  expect_out 1
  : >password
  attempt tsem show "$SEM"
  expect_failure "the file of TSEM_PASSWORD_FILE is empty"
  mkfifo -m 600 pipe
  mkdir -m 700 directory
  TSEM_PASSWORD_FILE=pipe attempt tsem show "$SEM"
  expect_failure "use a regular file"
  TSEM_PASSWORD_FILE=directory attempt tsem show "$SEM"
  expect_failure "use a regular file"
  rm password
  attempt tsem show "$SEM"
  expect_failure "cannot read the file of TSEM_PASSWORD_FILE: No such file"
}

@test "etcd security: what is wrong with a user is said in one line, without the password" {
  start_store_with_users
  tsem create "$SEM"
  ETCDCTL_USER=alice:wander attempt tsem show "$SEM"
  expect_failure "$SEM: 127.0.0.1:5379: .*invalid user ID or password \(correct ETCDCTL_USER"
  [[ $ERR != *wander* ]] || fail 'the message has the password'
  ETCDCTL_USER=nobody:wonder attempt tsem run "$SEM" -- touch ran
  expect_failure "invalid user ID or password"
  ETCDCTL_USER='' attempt tsem run "$SEM" -- touch ran
  expect_failure 'set ETCDCTL_USER to NAME:PASSWORD'
  attempt tsem create "${SEM/team/other}"
  expect_failure 'permission denied \(give the user of ETCDCTL_USER a role with rights'
  attempt tsem list "etcd://127.0.0.1:5379/other/"
  expect_failure 'permission denied'
  attempt tsem list --noheadings --raw -o NAME "etcd://127.0.0.1:5379/team/"
  expect_out "$SEM"
  [[ ! -e ran ]] || fail 'a command has run'
  local name
  for name in etcd://alice:wander@127.0.0.1:5379/a etcd://127.0.0.1:5379,alice:wander@127.0.0.1:5379/a etcd:a; do
    ETCDCTL_ENDPOINTS=http://alice:wander,er@127.0.0.1:5379 attempt tsem show "$name"
    expect_failure 'an endpoint is only HOST:PORT \(set ETCDCTL_USER'
    [[ $ERR != *wander* ]] || fail 'the message has the password'
  done
  # A user for a store that asks for none.
  unset ETCDCTL_USER
  etcdctl --user root:secret-of-root auth disable >/dev/null
  ETCDCTL_USER=alice:wonder attempt tsem show "$SEM"
  expect_status 0
}

# bats test_tags=long
@test "etcd security: tokens that expire, and rights that change, during a hold and a wait" {
  start_store_with_users
  tsem create "$SEM"
  start sh -c 'exec tsem run --ttl 2 "$0" -- sleep 1000 2>said' "$SEM"
  local holder=$PID
  eventually is_shown .held 1
  enqueue tsem run --ttl 2 "$SEM" -- touch ran
  attempt tsem wait -w 3 "$SEM" # more than the lifetimes of tokens and leases
  expect_in_vain
  env -u ETCDCTL_USER etcdctl --user root:secret-of-root role grant-permission team read other/ >/dev/null
  attempt tsem wait -w 2 "$SEM"
  expect_in_vain
  pkill -P "$holder" -x sleep
  finish "$holder"
  finish "$PID"
  expect_status 0
  [[ -e ran && ! -s said ]] || fail "$(<said)"
  start sh -c 'exec tsem run --ttl 2 "$0" -- sleep 1000 2>said' "$SEM"
  eventually is_shown .held 1
  env -u ETCDCTL_USER etcdctl --user root:secret-of-root role revoke-permission team --prefix=true team/ >/dev/null
  finish "$PID"
  expect_status 125
  # The last refusal is told. With tokens that last 1 s, that may be one of a token.
  expect_match 'the message' "$(<said)" "^tsem: $SEM: the hold is lost: .*(permission denied|invalid auth token)"
}

# ---- certificates ----

# authority NAME, and signed NAME AUTHORITY DAYS: NAME.crt and NAME.key. The gateway of etcd refuses a client with a CommonName if it
# asks for users, so there is none.
authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.crt" -days 2 -subj "/O=$1" 2>/dev/null
}

signed() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.csr" -subj "/O=$1" 2>/dev/null
  openssl x509 -req -in "$1.csr" -CA "$2.crt" -CAkey "$2.key" -CAcreateserial -out "$1.crt" -days "$3" \
    -extfile <(echo subjectAltName=IP:127.0.0.1) 2>/dev/null
}

start_store_with_certificates() {
  authority ours
  signed member ours 2
  signed client ours 2
  start_store https://127.0.0.1:5379 --cert-file member.crt --key-file member.key --trusted-ca-file ours.crt --client-cert-auth
  export ETCDCTL_ENDPOINTS=127.0.0.1:5379 ETCDCTL_CACERT=$PWD/ours.crt ETCDCTL_CERT=$PWD/client.crt ETCDCTL_KEY=$PWD/client.key
  eventually etcdctl endpoint health
  SEM=etcd:$SEM
}

@test "etcd security: certificates of the clients" {
  start_store_with_certificates
  tsem create "$SEM" 2>/dev/null
  hold
  enqueue tsem run "$SEM" -- sh -c 'echo "$TSEM_FENCE" >ran'
  kill "$KEEPER"
  pkill -P "${STARTED[-2]}" -x sleep
  finish "$PID"
  expect_status 0
  [[ -s ran ]] || fail 'the waiter has not run'
  attempt tsem show "etcds://127.0.0.1:5379/${SEM#etcd:}"
  expect_status 0
}

# Each takes the 5 s in which a store may answer.
# bats test_tags=long
@test "etcd security: certificates that are missing, expired, or of another authority" {
  start_store_with_certificates
  tsem create "$SEM" 2>/dev/null
  authority theirs
  signed old ours -1
  signed stranger theirs 2
  ETCDCTL_CACERT=$PWD/theirs.crt attempt tsem show "$SEM"
  expect_failure 'the certificate of 127.0.0.1:5379 is not accepted'
  ETCDCTL_KEY=$PWD/old.key attempt tsem show "$SEM"
  expect_failure 'check ETCDCTL_CACERT, ETCDCTL_CERT and ETCDCTL_KEY'
  ETCDCTL_CERT='' ETCDCTL_KEY='' attempt tsem show "$SEM"
  expect_failure 'ETCDCTL_CERT'
  for name in old stranger; do
    ETCDCTL_CERT=$PWD/$name.crt ETCDCTL_KEY=$PWD/$name.key attempt tsem run "$SEM" -- touch ran
    expect_failure 'ETCDCTL_CERT'
  done
  [[ ! -e ran ]] || fail 'a command has run'
}

@test "etcd security: the certificate of the store has expired" {
  authority ours
  signed member ours -1
  start_store https://127.0.0.1:5379 --cert-file member.crt --key-file member.key
  eventually bash -c ': >/dev/tcp/127.0.0.1/5379'
  ETCDCTL_CACERT=$PWD/ours.crt attempt tsem create "etcds://127.0.0.1:5379/$SEM"
  expect_failure 'the certificate of 127.0.0.1:5379 is not accepted: .*expired'
}
