/** Who runs jobs. */

/** A user of the system that is nobody, where the runner is root; null: the runner's own. */
export type Account = { readonly uid: number; readonly gid: number } | null;

/** `nobody` of every Linux and macOS that has a number for it in 16 bits. */
const NOBODY = { uid: 65_534, gid: 65_534 };

/** A job never runs as root: no limit of processes binds root. */
export function accountOfJobs(): Account {
  return Deno.uid() === 0 ? NOBODY : null;
}

/** What to put before a command line so that the account runs it. */
export function asAccount(account: Account): string[] {
  if (account === null) return [];
  return ["setpriv", `--reuid=${account.uid}`, `--regid=${account.gid}`, "--clear-groups"];
}
