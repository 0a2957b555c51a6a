# SPDX-License-Identifier: MIT
load helper

# Runs without semaphores of other processes, if the system permits.
alone() {
  attempt private-shm 1m bash -ec "$1"
}

@test "list: JSON has the objects of show without holders, waiters and dead, sorted by name" {
  need_private_shm
  alone 'tsem create b -j 3 --max 7; tsem create a; tsem create B -m 0660; tsem take b
    tsem list -J >list; for name in B a b; do tsem show -J $name; done >shown'
  expect_silence
  expect_equal 'the list' "$(jq -S '.semaphores[]' list)" "$(jq -S 'del(.dead, .holders, .waiters)' shown)"
  expect_equal 'keys beside it' "$(jq -c keys list)" '["semaphores"]'
}

@test "list: numbers in names count as numbers" {
  need_private_shm
  alone 'for name in sem.10 sem.9 sem.1 sem x-100 x-20; do tsem create $name; done; tsem list -o NAME --raw --noheadings'
  expect_out $'sem\nsem.1\nsem.9\nsem.10\nx-20\nx-100'
}

@test "list: without any semaphore" {
  need_private_shm
  alone 'tsem list -J'
  expect_status 0
  expect_err ''
  expect_equal 'JSON' "$(jq -c . <<<"$OUT")" '{"semaphores":[]}'
  alone 'tsem list --noheadings'
  expect_silence
}

@test "list: the table has one line each" {
  need_private_shm
  alone 'tsem create -j 3 one; tsem create two; tsem take -k 2 one; tsem list'
  expect_status 0
  expect_err ''
  local lines
  mapfile -t lines <attempt.out
  expect_equal 'number of lines' "${#lines[@]}" 3
  expect_match 'headings' "${lines[0]}" '^NAME +CAPACITY +AVAILABLE +HELD +WAITING +REASON +USER$'
  expect_match 'the first' "${lines[1]}" '^one +3 +1 +2 +0 +none +'
  expect_match 'the second' "${lines[2]}" '^two +1 +1 +0 +0 +none +'
}

@test "list: the capacity, and what was posted in excess" {
  need_private_shm
  alone 'tsem create -j 3 one; tsem set -j 5 one; tsem create two; tsem post -k 4 two; tsem run -j 3 three true
    tsem list -o NAME,PERMITS,CAPACITY,AVAILABLE,BOUNDED,EXCESS; tsem list; tsem show two; tsem top -b -i 1'
  expect_status 0
  expect_match 'one' "$OUT" $'\none +3 +5 +5 +no *\n'
  expect_match 'two' "$OUT" $'\ntwo +1 +1 +5 +no +4 *\n'
  expect_match 'three' "$OUT" $'\nthree +3 +3 +3 +yes'
  expect_match 'the table' "$OUT" $'\nNAME +CAPACITY +AVAILABLE +EXCESS +HELD .*\ntwo +1 +5 +4 +0 +0 '
  expect_match 'show' "$OUT" $'\ntwo: 1 permit, 5 available, 0 held, 0 waiting, 4 posted in excess \\(see .tsem set --exact two.\\)'
  expect_match 'top' "$OUT" $'\ntwo +0% +0 +1\\+4 +0 '
}

@test "list: no excess where posts add permits as the creator has allowed" {
  need_private_shm
  alone 'tsem create -j 0 event; tsem post -k 2 event; tsem create -j 1 --max 4 queue; tsem post -k 3 queue
    tsem list; tsem show event; tsem show queue; tsem show -J queue; tsem top -b -i 1'
  expect_status 0
  expect_match 'event' "$OUT" $'\nevent: 0 permits, 2 available, 0 held, 0 waiting\n'
  expect_match 'queue' "$OUT" $'\nqueue: 1 permit, 4 available, 0 held, 0 waiting, at most 4 by posting\n'
  [[ ${OUT,,} != *excess* && $OUT != *1+3* ]] || fail "$OUT"
}

@test "list: -o, --noheadings, --raw" {
  need_private_shm
  alone 'tsem create -j 3 one; tsem create two; tsem list -o NAME,PERMITS --noheadings --raw'
  expect_status 0
  expect_out $'one 3\ntwo 1'
}

@test "list: no name is cut, also where other columns are" {
  need_private_shm
  local name=nightly-database.backup verb
  for verb in list 'list -o NAME,MODE,CREATED,USER,WHY' 'top -b -i 1'; do
    attempt private-shm 1m script -qec "stty cols 80 && tsem create $name && tsem set -j 0 $name && tsem $verb" /dev/null
    expect_status 0
    expect_match "the name in $verb" "$OUT" "(^|"$'\n'")$name "
    [[ $verb == top* ]] || expect_match "width of $verb" "$(sed 's/\r//; s/ *$//' attempt.out | wc -L)" '^([1-7]?[0-9]|80)$'
    attempt private-shm 1m sh -c "tsem create $name && tsem $verb"
    expect_match 'not cut in a pipe' "$OUT" "$name"
  done
  name=$(printf 'x%.0s' {1..200})
  attempt private-shm 1m script -qec "stty cols 80 && tsem create $name && tsem list" /dev/null
  expect_match 'the longest name' "$OUT" "(^|"$'\n'")$name "
}

@test "list: other files are not listed" {
  need_private_shm
  alone 'tsem create one; cd /dev/shm; touch sem.x other .tsem.y tsem. tsem.-z "tsem.a b"; tsem list -o NAME --noheadings'
  expect_status 0
  expect_err ''
  expect_out one
}

@test "list: a file that cannot be read is mentioned and does not hide the others" {
  need_private_shm
  alone 'tsem create one; echo garbage >/dev/shm/tsem.two; tsem create three; tsem list -o NAME --noheadings || true'
  expect_out $'one\nthree'
  expect_match 'standard error' "$ERR" '^tsem: two: .* \(.*\)$'
}

@test "list: a hard link is mentioned, under each of its names" {
  need_private_shm
  alone 'tsem create one; tsem create two; ln /dev/shm/tsem.one /dev/shm/tsem.three; tsem list -o NAME --noheadings'
  expect_out two
  expect_match 'standard error' "$ERR" "^tsem: one: .*hard link .*"$'\n'"tsem: three: .*hard link .*tsem\.three'.*\\)$"
}

@test "list: in the shared directory it finds our semaphore, and not a removed one" {
  tsem create -j 2 "$SEM"
  attempt tsem list -J
  expect_equal 'our permits' "$(jq --arg name "$SEM" '.semaphores[] | select(.name == $name).permits' attempt.out)" 2
  tsem remove "$SEM"
  attempt tsem list -J
  expect_equal 'ours' "$(jq --arg name "$SEM" '.semaphores[] | select(.name == $name)' attempt.out)" ''
}

@test "list: -J with -o has the chosen keys" {
  need_private_shm
  alone 'tsem create -j 3 one; tsem create two; tsem list -J -o name,Permits'
  expect_status 0
  expect_equal 'the list' "$(jq -c .semaphores <<<"$OUT")" '[{"name":"one","permits":3},{"name":"two","permits":1}]'
  alone 'tsem create one
    for column in $(tsem list --help | sed -n "/^Columns/,/^\$/s/^ [* ]\([A-Z]*\) .*/\1/p"); do
      tsem list -J -o $column
    done'
  expect_status 0
  expect_equal 'keys' "$(jq -sc '[.[].semaphores[] | keys | length] | unique' <<<"$OUT")" '[1]'
  expect_equal 'values' "$(jq -sc '[.[].semaphores[][] | select(. == null)]' <<<"$OUT")" '[]'
}

@test "list: an unknown column and a surplus word are refused" {
  refuses "'NONSENSE'.*PERMITS" list -o NONSENSE
  refuses "'NONSENSE'.*PERMITS" list -J -o NAME,NONSENSE
  refuses "'$SEM'" list "$SEM"
}
