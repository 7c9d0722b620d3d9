#!/bin/bash
# packages.sh [--drop PATTERN]... [PACKAGE]...: installs packages of Debian in the stage of a build, and leaves in /out what
# an image gets of all that is installed there and is not yet in /base.
#
# Left out are locales, documentation but for the licences, what only serves to install more or to log in, and packages
# whose names are dropped, with the scripts that they would run. What is dropped of every image is asked for by name where it
# is needed. The list of packages stays, for those who look in it for vulnerable ones.
set -euo pipefail

drop=(apt 'libapt-pkg*' sqv 'libhogweed*' 'libnettle*' debian-archive-keyring dpkg perl-base debconf
  init-system-helpers ca-certificates login login.defs passwd libpam-modules libpam-modules-bin libpam-runtime
  'libsemanage*' 'libsepol*' openssl-provider-legacy tzdata)
drop_unless_asked=(
  # What the Debian of the registry has for those, and the one of mmdebstrap has not.
  openssl libdb5.3t64 libseccomp2 libbsd0 'libstdc++6'
  # A list of who has logged in.
  libsqlite3-0 liblastlog2-2)
while [[ ${1:-} == --drop ]]; do
  drop+=("$2")
  shift 2
done

if (($# > 0)); then
  apt-get update
  # The disk of a build need not survive a loss of power.
  apt-get install --yes --no-install-recommends -o Dpkg::Options::=--force-unsafe-io "$@"
fi

# Paths that no image needs, as patterns in which * stands for slashes, too.
excluded=(
  /base /out /packages.sh /.dockerenv '/tmp/*' '/var/tmp/*' '/root/.*' /etc/hostname /etc/hosts /etc/resolv.conf
  '/usr/share/locale/*' '/usr/lib/*/gconv' '/usr/share/man/*' '/usr/share/info/*' '/usr/share/doc/*/*' /usr/include
  '/etc/alternatives/*.gz' /usr/share/lintian /usr/share/bug /usr/share/menu /usr/share/bash-completion /usr/share/zsh
  /usr/share/fish '/usr/*/__pycache__'
  /etc/apt '/etc/cron*' /etc/init.d '/etc/rc?.d' /etc/logrotate.d /etc/pam.d /etc/systemd /usr/lib/systemd '/etc/ssl/certs/*'
  /var/backups '/var/cache/*' /var/lib/apt /var/lib/dpkg /var/lib/pam /var/lib/systemd '/var/log/*.log' /var/log/apt
  /var/log/journal
  # For disks, consoles and logins, for those who build locales and time zones, and for debuggers.
  '/usr/bin/lsblk' '/usr/bin/lslogins' '/usr/bin/partx' '/usr/sbin/agetty' '/usr/sbin/blkdiscard' '/usr/sbin/blkzone'
  '/usr/sbin/blockdev' '/usr/sbin/chmem' '/usr/sbin/fsck*' '/usr/sbin/fstrim' '/usr/sbin/losetup' '/usr/sbin/mkfs*'
  '/usr/sbin/mkswap' '/usr/sbin/sulogin' '/usr/sbin/swapoff' '/usr/sbin/swapon' '/usr/sbin/wipefs' '/usr/sbin/zramctl'
  '/usr/bin/localedef' '/usr/sbin/zic' '/usr/bin/tic' '/usr/bin/infocmp' /usr/share/gcc /usr/share/gdb
  '/usr/lib/*/libmvec.so*' '/usr/lib/*/libthread_db.so*' '/usr/lib/*/engines-3'
)
mkdir -p /base /out
cd /
tar --create --one-file-system --anchored --wildcards "${excluded[@]/#/--exclude=.}" . | tar --extract --directory /out
find usr/share/doc -name copyright -print0 | tar --create --null --files-from - | tar --extract --directory /out

cd /out
packages=$(mktemp -d)
# installed [PATTERN]...: names of those that are.
installed() {
  dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' | sort -u
}
{
  installed "${drop[@]}" || true
  installed "${drop_unless_asked[@]}" | grep --invert-match --line-regexp --fixed-strings "${@/#/--regexp=}" --regexp= || true
} | sort -u >"$packages/dropped"
installed | comm -23 - "$packages/dropped" >"$packages/kept"
for part in dropped kept; do
  xargs dpkg-query --listfiles <"$packages/$part" | sed -n 's|^/.|.&|p' | sort -u >"$packages/$part-files"
done
files=() directories=()
while IFS= read -r path; do
  if [[ -d $path && ! -L $path ]]; then
    directories=("$path" "${directories[@]}")
  else
    files+=("$path")
  fi
done < <(comm -23 "$packages/dropped-files" "$packages/kept-files")
rm -f "${files[@]}"
rmdir --ignore-fail-on-non-empty "${directories[@]}" 2>/dev/null || true

mkdir -p var/lib/dpkg
awk -v RS= -v ORS='\n\n' 'NR == FNR { kept[$0]; next } $2 in kept' RS='\n' "$packages/kept" RS= /var/lib/dpkg/status \
  >var/lib/dpkg/status

# Scripts without the program that runs them.
while IFS= read -r -d '' path; do
  IFS= read -r -N 2 magic 2>/dev/null <"$path" || continue
  if [[ $magic == '#!' ]]; then
    read -r interpreter arguments < <(head -n 1 "$path" | cut -c 3-)
    if [[ $interpreter == */env ]]; then
      interpreter=$(command -v "${arguments%% *}") || interpreter=/nowhere
    fi
    [[ -e .$interpreter || -e /base$interpreter ]] || rm "$path"
  fi
done < <(find . -type f -perm /111 -print0)

# What /base has already.
(cd /base && find . -type f -exec sha256sum {} +) | sha256sum --check 2>/dev/null | sed -n 's/: OK$//p' >"$packages/same" || true
xargs -d '\n' rm -f <"$packages/same"
comm -12 --zero-terminated <(cd /base && find . -type l -printf '%p %l\0' | sort --zero-terminated) \
  <(find . -type l -printf '%p %l\0' | sort --zero-terminated) | cut --zero-terminated --delimiter=' ' --fields=1 | xargs -0 rm -f
