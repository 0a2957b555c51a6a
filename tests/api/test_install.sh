#!/bin/bash
# Installs into a directory of its own, then builds and runs a user's program against what is there: with pkg-config,
# shared and static, as C11 and as C++. Usage: test_install.sh BUILD_DIRECTORY C_SOURCE C++_SOURCE PREFIX LIBDIR
# PROGRAMS PYTHON. Speaks TAP. PROGRAMS: the directory of those that the command becomes. PYTHON: empty if the module is left out.
# shellcheck disable=SC2317 # most functions are called through check
set -u

build=$1
source=$2
plus_source=$3
prefix=$4
libdir=$5
programs=$6
python=$7
directory=$(mktemp -d "${TMPDIR:-/tmp}/tsem-install.XXXXXX") || exit 99
trap 'rm -rf "$directory"' EXIT
number=0
failed=0

# check DESCRIPTION COMMAND...
check() {
	number=$((number + 1))
	local description=$1
	shift
	if "$@" >"$directory/log" 2>&1; then
		echo "ok $number - $description"
	else
		echo "not ok $number - $description: status $?"
		sed 's/^/# /' "$directory/log"
		failed=1
	fi
}

skip() {
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# --no-rebuild: the test must not change the build that it belongs to.
install_here() {
	DESTDIR="$directory/root" meson install -C "$build" --no-rebuild
}

files_are_there() {
	local file
	for file in "$prefix/include/tsem.h" "$prefix/include/tsem.hpp" "$libdir/libtsem.so" "$libdir/libtsem.so.1" "$libdir/libtsem.a" \
		"$libdir/pkgconfig/tsem.pc" "$prefix/bin/tsem" "$programs/tsem-view" "$programs/tsem-top" \
		"$prefix/share/bash-completion/completions/tsem" "$prefix/share/zsh/site-functions/_tsem" \
		"$prefix/share/fish/vendor_completions.d/tsem.fish" "$prefix/share/man/man1/tsem.1" \
		"$prefix/share/man/man1/tsem-run.1" "$prefix/share/man/man5/tsem-json.5" "$prefix/share/man/man7/tsem-jobserver.7" \
		"$prefix/share/man/man3/tsem.3" "$prefix/share/man/man7/tsem.7"; do
		[ -e "$directory/root$file" ] || { echo "missing: $file"; return 1; }
	done
	[ -e "$directory/root$libdir/libtsem-posix.so.1" ] || [ ! -e "$build/posix" ]
}

python_finds_the_module() {
	local module
	module=$(cd "$directory/root" && find . -path '*-packages/tsem/__init__.py') &&
		(cd / && "$python" -c 'import sys; sys.exit(sys.argv[1] not in sys.path)' "${module:1:-17}")
}

# The output of pkg-config, with that directory as root.
config() {
	PKG_CONFIG_PATH="$directory/root$libdir/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$directory/root" pkg-config "$@" tsem
}

# compile PROGRAM COMPILER ARGUMENTS...
compile() {
	local program=$1
	shift
	"$@" -o "$directory/$program"
}

runs() {
	LD_LIBRARY_PATH="$directory/root$libdir" "$directory/$1"
}

needs_the_library() {
	readelf -d "$directory/$1" | grep -q 'NEEDED.*libtsem\.so\.1'
}

needs_no_library() {
	! needs_the_library "$1"
}

# The semaphore has the name of the directory, which no other test has.
shows_where_moved() {
	local tsem=$directory/moved/bin/tsem name=${directory##*/}
	cp -a "$directory/root$prefix" "$directory/moved" && "$tsem" create "$name" || return
	"$tsem" show "$name" && "$tsem" list && "$tsem" top -b -i 1 "$name"
	local status=$?
	"$tsem" remove "$name"
	return "$status"
}

read -ra c_compiler <<<"${CC:-cc}"
read -ra plus_compiler <<<"${CXX:-c++}"
strict=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
if ! command -v pkg-config >/dev/null; then
	echo '1..0 # SKIP there is no pkg-config'
	exit 0
fi

echo 1..19
check 'installs' install_here
check 'all that a user needs' files_are_there
read -ra flags < <(config --cflags --libs)
# Only libtsem is linked from its archive, because other libraries may have none.
read -ra static < <(config --static --cflags --libs)
static=("${static[@]/#-ltsem/-l:libtsem.a}")
if [ "$programs" = "$prefix/libexec/tsem" ]; then
	check 'the command finds its programs in a prefix that was moved' shows_where_moved
else
	skip 'the command finds its programs in a prefix that was moved' 'they are not in libexec/tsem'
fi
if [[ $prefix = /usr* && -n $python ]]; then
	check 'Python finds the module' python_finds_the_module
else
	skip 'Python finds the module' 'there is no Python, or it looks elsewhere'
fi
check 'C11' compile shared "${c_compiler[@]}" -std=c11 -D_GNU_SOURCE "${strict[@]}" "$source" "${flags[@]}"
check 'C11 runs' runs shared
check 'C11 links the shared library' needs_the_library shared
check 'C11, static' compile static "${c_compiler[@]}" -std=c11 -D_GNU_SOURCE "${strict[@]}" "$source" "${static[@]}"
check 'C11, static, runs' runs static
check 'C11, static, needs no shared one' needs_no_library static
# The C headers in C++, and tsem.hpp.
if command -v "${plus_compiler[0]}" >/dev/null; then
	check 'tsem.h as C++17' compile plain "${plus_compiler[@]}" -x c++ -std=c++17 "${strict[@]}" "$source" "${flags[@]}"
	check 'tsem.h as C++17 runs' runs plain
	for standard in 11 17 20; do
		check "tsem.hpp as C++$standard" compile plus "${plus_compiler[@]}" "-std=c++$standard" "${strict[@]}" "$plus_source" "${flags[@]}"
		check "tsem.hpp as C++$standard runs" runs plus
	done
else
	for test in {1..8}; do
		skip "C++, $test" 'there is no C++ compiler'
	done
fi
check 'version' test "$(config --modversion)" = "$("$directory/root$prefix/bin/tsem" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1)"
exit "$failed"
