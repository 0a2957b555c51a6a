# SPDX-License-Identifier: MIT
# Create, set, show, list and remove on a real etcd.
load ../cli/helper

# SEM is the name in the store; NAME is what the user types.
name_it() {
  NAME=etcd:$SEM
}

keys_below() {
  etcdctl get --prefix --keys-only "$1" | grep . || true
}

config_of_sem() {
  etcdctl get --print-value-only "tsem/$SEM/config"
}

# Each change of the store raises it. (etcdctl would need as long as the rest of the test.)
revision() {
  local http
  exec {http}<>/dev/tcp/127.0.0.1/12379
  printf '%s\r\n' 'POST /v3/kv/range HTTP/1.0' 'Content-Length: 14' '' '{"key":"AA=="}' >&"$http"
  grep -o '"revision":"[0-9]*"' <&"$http"
}

# refused PATTERN WORD...: tsem says why in one line, exits with 125, and changes nothing in the store.
refused() {
  local before
  before=$(revision)
  attempt tsem "${@:2}"
  expect_status 125
  expect_out ''
  expect_message
  expect_match 'standard error' "$ERR" "$1"
  expect_equal 'the store' "$(revision)" "$before"
}

# put_owner FOLDER VALUE: KEY is its key.
put_owner() {
  local lease
  lease=$(etcdctl lease grant 100 | cut -d' ' -f2)
  KEY=tsem/$SEM/$1/$lease
  etcdctl put --lease="$lease" "$KEY" "$2" >/dev/null
}

@test "etcd: create, show and remove" {
  name_it
  attempt tsem create -j 3 "$NAME"
  expect_status 0
  attempt tsem show "$NAME"
  expect_status 0
  expect_out "$NAME: 3 permits, 3 available, 0 held, 0 waiting"
  attempt tsem remove "$NAME"
  expect_silence
  expect_equal 'keys' "$(keys_below "tsem/$SEM")" ''
}

@test "etcd: a version with a known fault is named at the creation" {
  name_it
  local version
  version=$(etcd --version | sed -n 's/^etcd Version: //p')
  attempt tsem create "$NAME"
  expect_status 0
  if printf '%s\n' 3.4.31 "$version" | sort --check=quiet --version-sort; then
    expect_err ''
  else
    expect_match 'standard error' "$ERR" "^tsem: $NAME: etcd $version may end the leases.*3\.4\.31, 3\.5\.13"
  fi
}

@test "etcd: a semaphore that exists" {
  name_it
  tsem create -j 3 "$NAME"
  refused "$NAME: it already exists .*--exist-ok" create -j 3 "$NAME"
  attempt tsem create --exist-ok -j 3 "$NAME"
  expect_silence
  refused "exists with -j 3.*not -j 4" create --exist-ok -j 4 "$NAME"
  tsem set -j 4 "$NAME"
  attempt tsem create --exist-ok -j 4 "$NAME"
  expect_silence
}

@test "etcd: the capacity changes, and nothing else" {
  name_it
  tsem create -j 3 "$NAME"
  local before
  before=$(config_of_sem)
  attempt tsem set -j 0 "$NAME"
  expect_silence
  expect_equal 'config' "$(config_of_sem | jq -c '.capacity = 3')" "$(jq -c . <<<"$before")"
  attempt tsem show "$NAME"
  expect_match 'standard output' "$OUT" '0 permits.*\(created with 3\): drained .*set -j 3 etcd:'
}

@test "etcd: two processes change the capacity at the same time" {
  name_it
  tsem create "$NAME"
  local i
  for i in {2..9}; do start tsem set -j "$i" "$NAME"; done
  for i in "${STARTED[@]}"; do
    finish "$i"
    expect_status 0
  done
  expect_equal 'changes' "$(etcdctl get -w json "tsem/$SEM/config" | jq '.kvs[0].version')" 9
}

@test "etcd: holders and waiters in tables and as JSON" {
  name_it
  tsem create -j 3 "$NAME"
  local since fence
  since=$(($(date +%s) - 100))
  put_owner holders "{\"host\":\"alpha\",\"pid\":17,\"uid\":0,\"command\":\"make all\",\"count\":2,\"slots\":[0,1],\"since\":$since}"
  put_owner waiters "{\"host\":\"beta\",\"pid\":18,\"uid\":0,\"command\":\"deploy\",\"count\":2,\"since\":$since}"
  put_owner waiters "{\"host\":\"gamma\",\"pid\":19,\"uid\":0,\"command\":\"later\",\"count\":1,\"since\":$since}"
  fence=$(etcdctl get -w json --prefix "tsem/$SEM/holders/" | jq '.kvs[0].create_revision')
  attempt tsem show --raw --noheadings -o STATE,POSITION,PID,HOST,COUNT,SLOTS,FENCE,COMMAND "$NAME"
  expect_out "holds  17 alpha 2 0,1 $fence make\\x20all
waits 1 18 beta 2   deploy
waits 2 19 gamma 1   later"
  attempt tsem show "$NAME"
  expect_match 'standard output' "$OUT" '3 permits, 0 available, 2 held, 2 waiting: the first in line wants 2 permits, 1 is kept'
  attempt tsem show -J "$NAME"
  expect_equal 'JSON' "$(jq -c '[.holders[0] | .host, .fence, .slots, .alive], [.waiters[] | .host, .position]' <<<"$OUT")" \
    "[\"alpha\",$fence,[0,1],\"yes\"]
[\"beta\",1,\"gamma\",2]"
}

@test "etcd: several names in one command" {
  tsem create etcd:a
  tsem create etcd:b
  attempt tsem remove etcd:a etcd:none etcd:b
  expect_status 125
  expect_match 'standard error' "$ERR" '^tsem: etcd:none: no such semaphore'
  expect_equal removed "$(keys_below tsem/a/; keys_below tsem/b/)" ''
  tsem create etcd:a
  tsem create etcd:b
  attempt tsem show -J etcd:b etcd:a
  expect_status 0
  expect_equal names "$(jq -r .name attempt.out | paste -sd' ')" 'etcd:b etcd:a'
  attempt tsem wait etcd:a etcd:b
  expect_silence
}

@test "etcd: a semaphore in use is removed only with -f" {
  name_it
  local owner='{"host":"alpha","pid":17,"uid":0,"command":"make","count":1,"since":0}'
  tsem create "$NAME"
  put_owner waiters "$owner"
  refused 'in use.*-f' remove "$NAME"
  etcdctl del "$KEY" >/dev/null
  put_owner holders "$owner"
  refused 'in use.*-f' remove "$NAME"
  attempt tsem remove -f "$NAME"
  expect_silence
  expect_equal 'keys' "$(keys_below "tsem/$SEM")" ''
}

@test "etcd: the list has the semaphores of one store and one prefix, by names that tsem accepts" {
  name_it
  local uri=etcd://127.0.0.1:22379
  tsem create "$NAME-a"
  tsem create -j 2 "$uri/$SEM/prefix/b"
  attempt tsem list --raw --noheadings -o NAME,CAPACITY etcd:
  expect_match 'standard output' "$OUT" "$NAME-a 1"
  [[ $OUT != *prefix* ]]
  attempt tsem list --raw --noheadings -o NAME,CAPACITY "$uri/$SEM/prefix/"
  expect_out "$uri/$SEM/prefix/b 2"
  attempt tsem list -J "$uri/$SEM/prefix/"
  expect_equal 'JSON' "$(jq -c '.semaphores[] | [.name, .permits, .mode]' <<<"$OUT")" "[\"$uri/$SEM/prefix/b\",2,null]"
  tsem remove "$(tsem list --raw --noheadings -o NAME "$uri/$SEM/prefix/")"
  expect_equal 'keys' "$(keys_below "$SEM/prefix")" ''
}

@test "etcd: keys that are not tsem's are told from semaphores" {
  name_it
  etcdctl put "tsem/$SEM-json/config" '{"permits":1}' >/dev/null
  etcdctl put "tsem/$SEM-later/config" '{"layout":2,"uuid":"x"}' >/dev/null
  printf '\xff\xfe' | etcdctl put "tsem/$SEM-bytes/config" >/dev/null
  etcdctl put "tsem/$SEM-other/waiters/else" 1 >/dev/null
  local verb
  for verb in show create remove 'set -j 2'; do
    # shellcheck disable=SC2086 # the verb with its option
    refused 'keys of another program are in its place.*remove -f' $verb "$NAME-json"
    # shellcheck disable=SC2086
    refused 'keys of another program' $verb "$NAME-bytes"
    # shellcheck disable=SC2086
    refused 'another version of tsem' $verb "$NAME-later"
  done
  refused 'keys of another program' create "$NAME-other"
  tsem create "$NAME-big"
  head -c 2000000 /dev/zero | tr '\0' 1 | etcdctl put "tsem/$SEM-big/anonymous" >/dev/null
  for verb in show 'take -n' remove; do
    # shellcheck disable=SC2086
    refused 'keys of another program' $verb "$NAME-big"
  done
  tsem create "$NAME"
  attempt tsem list --raw --noheadings -o NAME etcd:
  expect_equal 'lines with the good name' "$(grep -cx "$NAME" <<<"$OUT")" 1
  expect_equal 'complaints' "$(grep -c "$NAME-" <<<"$ERR")" 4
  attempt tsem remove -f "$NAME-bytes"
  expect_silence
}

@test "etcd: a name that is the PREFIX of another semaphore" {
  name_it
  local name=etcd://127.0.0.1:22379/$SEM/prefix
  for _ in 1 2; do
    tsem create "$name"
    tsem create "$name/b" || true
    attempt tsem remove "$name"
    expect_silence
    attempt tsem show "$name/b"
    expect_status 0
  done
  tsem remove "$name/b"
  expect_equal 'keys' "$(keys_below "$SEM/")" ''
}

@test "etcd: no such semaphore" {
  name_it
  local verb
  for verb in show remove 'remove -f' 'set -j 2'; do
    # shellcheck disable=SC2086
    refused "^tsem: $NAME: no such semaphore .*'tsem list etcd:'" $verb "$NAME"
  done
  refused "'tsem list etcd://127.0.0.1:12379/team/'" show "etcd://127.0.0.1:12379/team/$SEM"
}

@test "etcd: names and addresses with mistakes" {
  refused 'not a name.*etcd://HOST:PORT/PREFIX/NAME' create etcd:a/b
  refused 'not a name' create etcd:/127.0.0.1:12379/a
  refused 'not a name' create etcd://127.0.0.1:12379
  refused 'not a name' create etcd://127.0.0.1:12379/
  refused 'not a name' create etcd:
  refused 'not a name' create etcd:-a
  refused 'not HOST:PORT' create etcd://127.0.0.1/a
  refused 'not HOST:PORT' create etcd://127.0.0.1:12379,/a
  refused 'not HOST:PORT' create etcd://127.0.0.1:123790/a
  refused 'only HOST:PORT' create etcd://user@127.0.0.1:12379/a
  refused 'not a prefix' create etcd://127.0.0.1:12379/-p/a
  refused 'not a prefix' create etcd://127.0.0.1:12379//a
  refused 'not a name' create etcd:a,b
  refused 'two stores' run a,etcd:b true
  refused 'etcds: needs the address' create etcds:a
  refused 'names a semaphore' list etcd:a
  ETCDCTL_ENDPOINTS='' attempt tsem create etcd:a
  expect_failure 'ETCDCTL_ENDPOINTS is not set'
  ETCDCTL_ENDPOINTS=127.0.0.1:12379, attempt tsem create etcd:a
  expect_failure "in ETCDCTL_ENDPOINTS, '' is not HOST:PORT"
  attempt tsem create etc:a
  expect_failure 'not a name.*on etcd: etcd:\.\.\.\)'
}

@test "etcd: options and verbs that have no meaning there" {
  refused '--max does not work' create --max 3 etcd:a
  refused '-m does not work' create -m 0600 etcd:a
  refused '--foreign does not work' remove --foreign etcd:a
  refused '--stats does not work' show --stats etcd:a
  refused '--jobserver does not work' run --jobserver etcd:a make
  refused "'watch' does not work" watch etcd:a
}

@test "etcd: a member that does not answer is passed over" {
  name_it
  ETCDCTL_ENDPOINTS=127.0.0.1:1,127.0.0.1:32379 attempt tsem create "$NAME"
  expect_status 0
  attempt tsem show "etcd://127.0.0.1:1,127.0.0.1:12379/$SEM"
  expect_status 0
}

# answer_with PORT STATUS BODY: a server that answers each request so.
answer_with() {
  start python3 -c '
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.send_response(int(sys.argv[2]))
        self.end_headers()
        self.wfile.write(sys.argv[3].encode())
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()' "$@"
  eventually bash -c ": >/dev/tcp/127.0.0.1/$1"
}

@test "etcd: a proxy without a member behind it is passed over, and a service without the header of etcd is not one" {
  name_it
  answer_with 8081 503 'no member'
  attempt tsem create "etcd://127.0.0.1:8081,127.0.0.1:12379/$SEM"
  expect_status 0
  answer_with 8082 200 '{}'
  local verb
  for verb in show 'remove -f' create; do
    # shellcheck disable=SC2086
    refused '127.0.0.1:8082 answers, but not as etcd' $verb etcd://127.0.0.1:8082/a
  done
  refused '127.0.0.1:8082 answers, but not as etcd' list etcd://127.0.0.1:8082/
}

@test "etcd: a port where another service answers" {
  start python3 -m http.server --bind 127.0.0.1 8080
  eventually bash -c ': >/dev/tcp/127.0.0.1/8080'
  refused '127.0.0.1:8080 answers, but not as etcd: HTTP status 501.*enable-grpc-gateway' create etcd://127.0.0.1:8080/a
  refused '127.0.0.1:12380 answers, but not as etcd: HTTP status 404' create etcd://127.0.0.1:12380/a
}

# A store with TLS and its certificate; the other certificate is none of a store.
start_tls() {
  local file
  for file in other certificate; do
    openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out $file -days 2 -subj /CN=localhost \
      -addext subjectAltName=IP:127.0.0.1 2>/dev/null
  done
  start etcd --data-dir tls --log-level error --cert-file certificate --key-file key \
    --listen-client-urls https://127.0.0.1:4379 --advertise-client-urls https://127.0.0.1:4379 \
    --listen-peer-urls http://127.0.0.1:4380
  eventually env -u ETCDCTL_ENDPOINTS ETCDCTL_CACERT=certificate etcdctl --endpoints https://127.0.0.1:4379 endpoint health
}

@test "etcd: TLS" {
  start_tls
  ETCDCTL_CACERT=certificate attempt tsem create "etcds://127.0.0.1:4379/$SEM"
  expect_status 0
  ETCDCTL_CACERT=certificate ETCDCTL_ENDPOINTS=127.0.0.1:4379 attempt tsem remove "etcd:$SEM"
  expect_silence
  ETCDCTL_CACERT=other refused 'certificate of 127.0.0.1:4379 is not accepted.*ETCDCTL_CACERT' create etcds://127.0.0.1:4379/a
}

# Each takes the 5 s in which a store may answer, and has its files in a directory of its own.
# bats test_tags=long
@test "etcd: TLS where none is expected, the reverse, and a store that cannot be reached" {
  start_tls
  mkdir by-tls without-tls
  (cd by-tls && ETCDCTL_CACERT=../other refused 'does not answer by TLS' create etcds://127.0.0.1:12379/a) 3>&- 4>&- &
  local tls=$!
  (cd without-tls && refused 'TLS' create etcd://127.0.0.1:4379/a) 3>&- 4>&- &
  local no_tls=$!
  refused '^tsem: etcd://127.0.0.1:1,127.0.0.1:2/a: no member of the store answers at 127.0.0.1:1, 127.0.0.1:2:' \
    create etcd://127.0.0.1:1,127.0.0.1:2/a
  wait "$tls"
  wait "$no_tls"
}
