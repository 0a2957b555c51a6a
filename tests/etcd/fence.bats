# SPDX-License-Identifier: MIT
# The examples of resources that check a fence, as tsem-etcd(7) has them.
# shellcheck disable=SC2016,SC2153 # the inner shells expand these; the helper sets PID
load helper

# example BEGINNING: the example whose first line is that.
example() {
  sed -n "\\|^$1|,/^\.Ed/{/^\.Ed/d;p}" "$BATS_TEST_DIRNAME/../../man/tsem-etcd.7"
}

@test "etcd fence: a holder that has lost its hold without knowing it cannot replace what a later one has written" {
  prepare
  example '#!/bin/sh' >replace
  chmod +x replace
  mkfifo go
  start tsem run --ttl 2 --on-lost ignore "$SEM" -- sh -c 'echo first | ./replace file; read -r line <go; echo late | ./replace file 2>said; echo $? >status'
  local first=$PID
  eventually grep -qx first file
  etcdctl lease revoke "$(lease_of holders)" >/dev/null # as if it had stood still beyond its lifetime
  attempt tsem run "$SEM" -- sh -c 'echo second | ./replace file; echo third | ./replace file'
  expect_silence
  echo >go
  finish "$first"
  expect_equal 'the file' "$(<file)" third
  expect_equal 'the status of the late one' "$(<status)" 1
  expect_equal 'what it said' "$(<said)" 'file: a later holder has replaced it'
  attempt sh -c 'echo without | ./replace file'
  expect_equal 'the file' "$(<file)" third
}

@test "etcd fence: the statement for a table" {
  prepare
  local sql
  sql=$(example 'UPDATE site')
  sqlite() {
    python3 -c 'import sqlite3, sys
db = sqlite3.connect("site.db")
db.execute("CREATE TABLE IF NOT EXISTS site (name PRIMARY KEY, version, fence)")
db.execute("INSERT OR IGNORE INTO site VALUES (\"main\", \"\", 0)")
rows = db.execute(sys.argv[1], {"name": "main", "version": sys.argv[2], "fence": int(sys.argv[3])}).rowcount
db.commit()
print(rows, *db.execute("SELECT version FROM site").fetchone())' "$sql" "$@"
  }
  local first second
  first=$(tsem run "$SEM" -- sh -c 'echo "$TSEM_FENCE"')
  second=$(tsem run "$SEM" -- sh -c 'echo "$TSEM_FENCE"')
  expect_equal 'the first' "$(sqlite one "$first")" '1 one'
  expect_equal 'the second' "$(sqlite two "$second")" '1 two'
  expect_equal 'the first, late' "$(sqlite three "$first")" '0 two'
  expect_equal 'the second again' "$(sqlite four "$second")" '1 four'
}
