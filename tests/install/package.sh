#!/bin/sh
# package.sh CPACK BUILD: makes the Debian package, and looks at what is in it.
set -eu
. "$(dirname "$0")/lib.sh"

(cd "$2" && "$1" -G DEB -B "$top/packages") >"$top/log" 2>&1 || fail "$(cat "$top/log")"
version=$("$2/ccldse" --version | sed -n 's/^ccldse //p')
package=$top/packages/ccldse_${version}_$(dpkg --print-architecture).deb
[ -f "$package" ] || fail "no $package; $(ls "$top/packages")"

# field NAME
field() { dpkg-deb -f "$package" "$1"; }
[ "$(field Package)" = ccldse ] || fail "the package is called $(field Package)"
[ "$(field Version)" = "$version" ] || fail "the version is $(field Version)"
[ "$(field Section)" = science ] || fail "the section is $(field Section)"
for library in libc6 libjansson4 libsqlite3-0 libuv1 libyaml-0-2 zlib1g; do
    field Depends | tr ',' '\n' | sed 's/^ *//; s/ .*//' | grep -q "^$library\(t64\)\{0,1\}$" ||
        fail "the package does not depend on $library: $(field Depends)"
done

# Everything belongs to root, nobody else may write, and all of it is below /usr.
dpkg-deb -c "$package" >"$top/contents"
if grep -v '^[d-]rw[x-]r-[x-]r-[x-] root/root .* \./usr/' "$top/contents"; then
    fail "these are not as they should be"
fi
dpkg-deb -x "$package" "$top/root"
check_tree "$top/root/usr"

# Built to end at an overrun, and with nothing left to overwrite that the linker resolved.
readelf -lW "$top/root/usr/bin/ccldse" >"$top/elf"
readelf -dW "$top/root/usr/bin/ccldse" >>"$top/elf"
readelf -W --dyn-syms "$top/root/usr/bin/ccldse" >>"$top/elf"
for mark in GNU_RELRO BIND_NOW 'NOW PIE' __stack_chk_fail __snprintf_chk; do
    grep -q "$mark" "$top/elf" || fail "the program is built without $mark"
done
if [ -e /etc/debian_version ]; then
    [ "$(basename "$(dirname "$zsh_file")")" = vendor-completions ] || fail "zsh's script is in $zsh_file"
fi
