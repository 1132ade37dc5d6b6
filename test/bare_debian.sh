#!/usr/bin/env bash
# bare_debian.sh SUITE COMMAND...: makes a bare Debian of that suite (bookworm, trixie), with nothing but the checkout in it, and
# runs the commands there as root, one after the other, each a line for a shell. The status is that of the first that fails.
#
# Needs root, debootstrap, and 8 GB below TMPDIR. Packages come from where this machine's apt has those of Debian.
set -euo pipefail

PATH=$PATH:/usr/sbin:/sbin
suite=$1
shift
here=$(realpath "$(dirname "$0")/..")
# In name spaces of its own: what is mounted and started there ends with it.
if [[ -z ${bare:-} ]]; then
  bare=$(mktemp -d -p "${TMPDIR:-/var/tmp}" forkjoin-bare-XXXXXX)
  trap 'rm -rf --one-file-system "$bare" "$bare.log"' EXIT
  chmod 755 "$bare"  # apt reads as another user
  export bare
  unshare --mount --pid --fork --kill-child "$BASH" "$0" "$suite" "$@"
  exit
fi

mirror=$(apt-get indextargets --format '$(LABEL) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
  sed -n 's/^Debian main //p' | head -n 1)
[[ -n $mirror ]] || { echo "bare_debian.sh: apt of this machine knows no repository of Debian; add one to its sources" >&2; exit 1; }
debootstrap --variant=minbase "$suite" "$bare" "$mirror" >"$bare.log" 2>&1 || { tail "$bare.log" >&2; exit 1; }
for file in /etc/resolv.conf /etc/hosts; do [[ ! -e $file ]] || cp "$file" "$bare$file"; done
apt-config dump | grep -E '^Acquire::(https?|Check-Valid-Until)' >"$bare/etc/apt/apt.conf.d/99machine" || true
mount -t proc proc "$bare/proc"
mount -t sysfs sysfs "$bare/sys"
mount --rbind /dev "$bare/dev"

mkdir "$bare/forkjoin"
tar -C "$here" -c --exclude='./build*' . | tar -C "$bare/forkjoin" -x --no-same-owner
# A bare Debian has no git to ask. With changes it is no commit.
commit=$(git -C "$here" diff --quiet HEAD && git -C "$here" rev-parse HEAD) || commit=
# What ran there, for ./dev tested.
trap 'cp -r "$bare"/forkjoin/build-tested "$here" 2>/dev/null || true' EXIT
for command; do
  echo "$suite: $command"
  env -i GITHUB_SHA="$commit" PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 chroot "$bare" /bin/sh -c "cd /forkjoin && $command" </dev/null
done
