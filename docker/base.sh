#!/bin/sh
# The layers of a base image, made of Debian's packages and npm's Node alone, for places without a registry of images:
#   sh docker/base.sh <folder> [release|evaluation] [lock]
# writes debian.tar (what Node links to, and no program; for an evaluation also PostgreSQL, what it links to, and the shell that initdb
# needs), node.tar, packages.json (what both were made of) and a copy of its passwd, and beside them npm, which only the build needs.
# The Debian packages are those of docker/debian.lock.json, or of the list that was named; see docker/packages.mjs.
# Needs apt, dpkg, GNU tar, openssl and npm, and no rights. The same packages give the same bytes.
set -eu
umask 022
folder=$1
variant=${2:-release}
root=$(cd "$(dirname "$0")/.." && pwd)
lock=${3:-$root/docker/debian.lock.json}
epoch=${SOURCE_DATE_EPOCH:-1773014400}
npm_version=11.21.2
npm_integrity=sha512-7HPApk+AflMUavSseL1Pm6CnYqMIHk53x+KmuhqmTDqPkjPMgxIpTPcTqsE91EKNw4gFBJV9fnXiSdGm1DXq9A==
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case $(uname -m) in x86_64) arch=x64 ;; aarch64) arch=arm64 ;; *) echo "no base for $(uname -m)" >&2; exit 1 ;; esac

# layer <name> <part>: an archive of that part of $work/<name>.
layer() {
  tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --format=ustar -cf "$folder/$1.tar" -C "$work/$1" "$2"
}

# Unpacked and not installed: nothing of them runs here. Their control files become the list where scanners look for what is installed.
info=$work/debian/var/lib/dpkg/info
mkdir -p "$info" "$work/debian/tmp" "$work/debian/root" "$work/debian/proc" "$work/debian/sys" "$work/debian/dev"
node "$root/docker/packages.mjs" "$work/deb" "$variant" "$lock"
cp "$work/deb/packages.json" "$folder/packages.json"
for deb in "$work"/deb/*.deb; do
  dpkg-deb --extract "$deb" "$work/debian"
  { dpkg-deb --field "$deb"; printf 'Status: install ok installed\n\n'; } >> "$work/debian/var/lib/dpkg/status"
  dpkg-deb --fsys-tarfile "$deb" | tar -tf - | sed -e 's|^\./|/|' -e 's|/$||' -e '/^$/d' > "$info/$(dpkg-deb --field "$deb" Package).list"
done
(cd "$work/debian" && find usr/share/doc -type f ! -name copyright -delete && rm -rf usr/share/man usr/share/locale usr/share/lintian usr/share/base-files)
# Of PostgreSQL what a server and its first start need, without the compiler of queries and its LLVM.
if [ "$variant" = evaluation ]; then
  (cd "$work/debian/usr/lib/postgresql/"* && find bin -type f ! -name postgres ! -name initdb -delete && rm -rf lib/bitcode lib/pgxs lib/llvmjit* lib/pgxml.so lib/sepgsql.so lib/uuid-ossp.so)
  rm -rf "$work/debian/etc/init.d" "$work/debian/usr/lib/systemd" "$work/debian/etc/postgresql"* "$work/debian/var/lib/postgresql"
fi
rm -rf "$work/debian/usr/share/gcc" "$work/debian/usr/share/gdb" "$work/debian/usr/lib/"*-linux-gnu/gconv
printf 'passwd: files\ngroup: files\nhosts: files dns\n' > "$work/debian/etc/nsswitch.conf"
printf 'root:x:0:0:root:/root:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n' > "$work/debian/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' > "$work/debian/etc/group"
chmod 1777 "$work/debian/tmp"
layer debian .
cp "$work/debian/etc/passwd" "$folder/passwd"

# The packages that package-lock.json names, checked by npm when it installed them.
install -D -m 755 "$root/node_modules/node-linux-$arch/bin/node" "$work/node/usr/local/bin/node"
install -D -m 644 "$root/node_modules/node-linux-$arch/LICENSE" "$work/node/usr/share/doc/node/copyright"
install -D -m 644 "$root/node_modules/node-linux-$arch/include/node/node_version.h" "$work/node/usr/local/include/node/node_version.h"
# What Node was built with, told by itself: no list of a distribution knows that.
"$work/node/usr/local/bin/node" -p 'JSON.stringify(process.versions)' > "$work/node/usr/local/include/node/versions.json"
layer node usr

(cd "$work" && npm pack --silent "npm@$npm_version" >/dev/null)
found="sha512-$(openssl dgst -sha512 -binary "$work/npm-$npm_version.tgz" | base64 -w0)"
[ "$found" = "$npm_integrity" ] || { echo "npm $npm_version is not the one that is expected: $found" >&2; exit 1; }
mkdir -p "$folder/npm"
tar -xzf "$work/npm-$npm_version.tgz" -C "$folder/npm" --strip-components=1
