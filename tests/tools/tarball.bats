#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# packaging/tarball, in a repository of its own.
load ../cli/helper

# repository DIRECTORY
repository() {
  mkdir -p "$1/packaging"
  cp "$BATS_TEST_DIRNAME/../../packaging/tarball" "$1/packaging/"
  printf "  version: '1.2.3',\n" >"$1/meson.build"
  git -C "$1" init -q
  git -C "$1" add .
  GIT_COMMITTER_DATE='2026-01-02T03:04:05Z' git -C "$1" -c user.name=a -c user.email=a@b.example commit -qm first
}

@test "tarball: the same bytes elsewhere, and with another umask, time zone and locale" {
  repository one
  attempt one/packaging/tarball out/a
  expect_status 0
  expect_out "$PWD/out/a/tsem-1.2.3.tar.xz"
  (umask 077 && git clone -q one two && TZ=Asia/Tokyo LC_ALL=C two/packaging/tarball out/b)
  cmp out/a/tsem-1.2.3.tar.xz out/b/tsem-1.2.3.tar.xz
  expect_equal 'modes and times' "$(TZ=UTC tar -tvf out/a/tsem-1.2.3.tar.xz | awk '{ print $1, $4, $5 }' | sort -u)" \
    $'-rw-r--r-- 2026-01-02 03:04\n-rwxr-xr-x 2026-01-02 03:04\ndrwxr-xr-x 2026-01-02 03:04'
}

@test "tarball: not of changes that are not committed" {
  repository .
  echo >>meson.build
  attempt packaging/tarball out
  expect_status 1
  expect_err "tarball: the working tree has changes that are not committed (see 'git status')"
}
