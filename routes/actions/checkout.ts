/** The action `actions/checkout` that this server offers: it needs `git` where the job runs. */

/** Its `action.yml`. The token is given to `git` in its environment, and is not kept. */
export const CHECKOUT = `name: Checkout
description: Check out a commit of a project on this server
inputs:
  repository:
    description: The project, as projects/SLUG
    default: \${{ github.repository }}
  ref:
    description: A branch, a tag or a commit; the one that started the workflow if it is left out
    default: ""
  token:
    description: What reads the project
    default: \${{ github.token }}
  path:
    description: Where the files come, below the workspace
    default: "."
  fetch-depth:
    description: How many commits are fetched; 0 for all of all branches and tags
    default: "1"
runs:
  using: composite
  steps:
    - shell: sh
      env:
        CHECKOUT_REPOSITORY: \${{ inputs.repository }}
        CHECKOUT_REF: \${{ inputs.ref }}
        CHECKOUT_SHA: \${{ github.sha }}
        CHECKOUT_TOKEN: \${{ inputs.token }}
        CHECKOUT_PATH: \${{ inputs.path }}
        CHECKOUT_DEPTH: \${{ inputs.fetch-depth }}
        CHECKOUT_SERVER: \${{ github.server_url }}
        GIT_TERMINAL_PROMPT: "0"
      run: |
        set -eu
        server=\${CHECKOUT_SERVER%/}
        mkdir -p "$GITHUB_WORKSPACE/$CHECKOUT_PATH"
        cd "$GITHUB_WORKSPACE/$CHECKOUT_PATH"
        export GIT_CONFIG_COUNT=2
        export GIT_CONFIG_KEY_0=http.$server/.extraHeader
        export GIT_CONFIG_VALUE_0="Authorization: Bearer $CHECKOUT_TOKEN"
        export GIT_CONFIG_KEY_1=safe.directory
        export GIT_CONFIG_VALUE_1="$PWD"
        git init --quiet .
        git remote remove origin 2>/dev/null || true
        git remote add origin "$server/\${CHECKOUT_REPOSITORY%.git}.git"
        ref=\${CHECKOUT_REF:-$CHECKOUT_SHA}
        if [ "$CHECKOUT_DEPTH" = 0 ]; then
          git fetch --quiet --tags origin "+refs/heads/*:refs/remotes/origin/*" "$ref"
        else
          git fetch --quiet --no-tags --depth "$CHECKOUT_DEPTH" origin "$ref"
        fi
        git checkout --quiet --force FETCH_HEAD
        git clean --quiet -ffdx
        git log -1 --format='%H %s'
`;
