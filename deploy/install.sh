#!/bin/sh
# Installs muster as a service of systemd, upgrades it, or removes it. It downloads nothing.
#
#   sudo ./install.sh [--executable FILE] [--sha256 HEX]
#   sudo ./install.sh --uninstall [--purge]
#
# The executable is "muster" beside this script or one folder up. It must match the line for it in
# SHA256SUMS in its folder, or the checksum after --sha256. Run the script again to upgrade: it
# changes what differs and restarts the service only if something did. --uninstall keeps the
# configuration and the data; --purge removes them too.
#
# DESTDIR=FOLDER installs into a folder, makes no data and starts nothing, for packages and tests.
set -eu

root=${DESTDIR:-}
bin=$root/usr/local/bin
share=$root/usr/local/share
etc=$root/etc/muster
unit=$root/etc/systemd/system/muster.service
data=/var/lib/muster
man=$share/man/man1/muster.1
bash_completion=$share/bash-completion/completions/muster
zsh_completion=$share/zsh/site-functions/_muster
fish_completion=$share/fish/vendor_completions.d/muster.fish

here=$(cd "$(dirname "$0")" && pwd)
executable=
sha256=
uninstall=false
purge=false
changed=false

say() { printf '%s\n' "$*"; }
fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}
usage() {
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"
}

parse() {
  while [ $# -gt 0 ]; do
    case $1 in
      --executable | --sha256)
        [ $# -ge 2 ] || fail "$1 needs a value"
        if [ "$1" = --sha256 ]; then sha256=$2; else executable=$2; fi
        shift
        ;;
      --uninstall) uninstall=true ;;
      --purge) purge=true ;;
      -h | --help)
        usage
        exit 0
        ;;
      *) fail "unknown option \"$1\"; --help shows the usage" ;;
    esac
    shift
  done
  if $purge && ! $uninstall; then fail "--purge needs --uninstall"; fi
}

# Whether this machine runs systemd, and the files are for this machine.
manages() { [ -z "$root" ] && [ -d /run/systemd/system ]; }

find_executable() {
  [ -z "$executable" ] || [ -f "$executable" ] || fail "there is no file $executable"
  for file in "$executable" "$here/muster" "$here/../muster" "$here/../dist/muster"; do
    if [ -n "$file" ] && [ -f "$file" ]; then
      executable=$file
      return
    fi
  done
  fail "there is no executable beside this script; name it with --executable"
}

verify() {
  sum=$(sha256sum "$executable" | cut -d ' ' -f 1)
  if [ -z "$sha256" ]; then
    list=$(dirname "$executable")/SHA256SUMS
    [ -f "$list" ] || fail "there is no $list; give the checksum with --sha256"
    # A name may have the mark of binary files, and a folder before it.
    sha256=$(sed -n 's/^\([0-9a-f]\{64\}\) [ *]\(.*\/\)\{0,1\}muster$/\1/p' "$list")
    [ -n "$sha256" ] || fail "$list has no line for muster; give the checksum with --sha256"
  fi
  [ "$sum" = "$sha256" ] || fail "the checksum of $executable is $sum, not $sha256"
}

# Puts standard input at a path, with a mode, if it differs from the file there.
put() {
  mode=$1 path=$2
  mkdir -p "$(dirname "$path")"
  cat >"$path.new"
  chmod "$mode" "$path.new"
  if cmp -s "$path.new" "$path"; then
    rm "$path.new"
  else
    mv "$path.new" "$path"
    changed=true
    say "wrote $path"
  fi
}

# The unit for this systemd: from version 253 on, "systemctl reload" waits for the end of a reload.
unit_text() {
  version=$(systemctl --version 2>/dev/null | sed -n '1s/^systemd \([0-9]*\).*/\1/p')
  if [ "${version:-0}" -ge 253 ]; then
    sed -e 's/^Type=notify$/Type=notify-reload/' -e '/^ExecReload=/d' "$here/muster.service"
  else
    cat "$here/muster.service"
  fi
}

# Writes the configuration, and makes the first admin in the data folder, which systemd then gives
# to the user of the service. A package gets the configuration alone: keys and passwords must differ
# from machine to machine.
first_run() {
  mkdir -p "$etc"
  if [ -n "$root" ]; then
    work=$(mktemp -d)
    (cd / && "$bin/muster" init --yes --config "$work/config.yaml" --data-dir "$work/data") >/dev/null
    sed "s|^data_dir: .*|data_dir: $data|" "$work/config.yaml" >"$etc/config.yaml"
    rm -rf "$work"
    say "the first admin: \"muster admin passwd admin\", once muster runs"
  else
    say "the first admin:"
    (cd / && "$bin/muster" init --yes --config "$etc/config.yaml" --data-dir "$data")
  fi
  # Secrets belong in the environment, so the service may read this as any user.
  chmod 644 "$etc/config.yaml"
  changed=true
}

install_files() {
  put 755 "$bin/muster" <"$executable"
  [ -e "$etc/config.yaml" ] || first_run
  [ -e "$etc/environment" ] || put 600 "$etc/environment" <<'ENVIRONMENT'
# Variables of the service, one NAME=VALUE a line; only root can read them. Such as:
# ANTHROPIC_API_KEY=...
ENVIRONMENT
  "$bin/muster" man | put 644 "$man"
  "$bin/muster" completion bash | put 644 "$bash_completion"
  "$bin/muster" completion zsh | put 644 "$zsh_completion"
  "$bin/muster" completion fish | put 644 "$fish_completion"
  unit_text | put 644 "$unit"
}

start() {
  "$bin/muster" config check --config "$etc/config.yaml" >/dev/null ||
    fail "the configuration is not valid; the service was not restarted"
  systemctl daemon-reload
  systemctl enable --quiet muster
  if $changed; then systemctl restart muster; else systemctl start muster; fi
  say "muster runs; \"systemctl status muster\" shows its state"
  say "Commands of root find it by its configuration, such as:"
  say "  muster --config /etc/muster/config.yaml admin passwd admin"
}

remove() {
  if manages && [ -e "$unit" ]; then systemctl disable --quiet --now muster; fi
  for file in "$unit" "$bin/muster" "$man" "$bash_completion" "$zsh_completion" "$fish_completion"
  do
    if [ -e "$file" ]; then
      rm "$file"
      say "removed $file"
    fi
  done
  if manages; then systemctl daemon-reload; fi
  if $purge; then
    rm -rf "$etc" "$root$data" "$root/var/lib/private/muster"
    say "removed $etc and $root$data"
  else
    say "kept $etc and $root$data; --purge removes them"
  fi
}

main() {
  parse "$@"
  if [ -z "$root" ] && [ "$(id -u)" != 0 ]; then fail "run this as root, for example with sudo"; fi
  if $uninstall; then
    remove
    return
  fi
  find_executable
  verify
  install_files
  if manages; then
    start
  else
    say "installed; there is no systemd that could start the service"
  fi
  $changed || say "nothing changed"
}

main "$@"
