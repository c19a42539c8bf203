# A client of Git: `git_client.sh GIT COMMAND …`; `foreign_git.ts` says which.
set -euo pipefail

program=$1 command=$2
shift 2
export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
export GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.org
export GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=ann@example.org
git() {
  "$program" -c credential.helper= \
    -c credential.helper='!f() { echo "username=$GIT_USER"; echo "password=$GIT_SECRET"; }; f' "$@"
}

case $command in
  clone)
    options=()
    if [[ ${3:-0} != 0 ]]; then options+=(--depth="$3"); fi
    if [[ -n ${4:-} ]]; then options+=(--filter="$4"); fi
    git clone --quiet "${options[@]}" "$1" "$2"
    ;;
  fetch)
    options=()
    if [[ ${2:-0} != 0 ]]; then options+=(--depth="$2"); fi
    git -C "$1" fetch --quiet "${options[@]}"
    ;;
  commit)
    printf %s "$3" >"$1/$2"
    git -C "$1" add "$2"
    git -C "$1" commit --quiet --message="$4"
    ;;
  tag) git -C "$1" tag --annotate --message="$3" "$2" ;;
  push)
    folder=$1
    shift
    git -C "$folder" push --quiet origin "$@"
    ;;
esac
