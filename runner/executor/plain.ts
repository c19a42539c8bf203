/** No isolation: a process like any other of the account, in a group of its own. */
import { type Account, asAccount } from "./accounts.ts";
import { type Bounds, JOB_VARIABLE, type Missing, type Places, type Sandbox } from "./sandbox.ts";
import { runScript, whichProgram } from "./shell.ts";

/** Ends every process whose environment began with a variable, until none is left. */
const SWEEP = `
for _ in 1 2 3 4 5 6 7 8 9 10; do
  found=$(grep -lzs -e "^$1=$2" /proc/[0-9]*/environ | sed 's|/proc/||; s|/environ||') || break
  [ -n "$found" ] || break
  kill -KILL $found 2>/dev/null
done
`;

/** How many processes and threads the account has. */
const COUNT = "cat /proc/[0-9]*/status 2>/dev/null | " +
  `awk -v uid="$1" '/^Uid:/ { own = $2 == uid } /^Threads:/ { if (own) n += $2 } END { print n + 0 }'`;

/** @param account who runs jobs: see `accounts.ts` */
export async function findPlain(account: Account): Promise<Sandbox | Missing> {
  if (Deno.build.os === "windows") return { kind: "none", why: "checks need a POSIX shell" };
  if (account !== null && await whichProgram("setpriv") === null) {
    return { kind: "none", why: "a runner of root needs setpriv, to run jobs as nobody" };
  }
  const prlimit = await whichProgram("prlimit");
  const uid = account?.uid ?? Deno.uid() ?? 0;
  return {
    kind: "none",
    about: "none: a check can read and do whatever this account can",
    all: "0",
    owner: account,
    inside: (places) => places,
    command: async (
      { limits }: Bounds,
      { checkout, name }: Places & { name: string },
      inner: readonly string[],
    ) => [
      ...asAccount(account),
      ...prlimit === null ? [] : [
        prlimit,
        // All processes of the account count, so those that are there are no job's.
        `--nproc=${limits.processes + await countProcesses(uid)}`,
        `--data=${limits.memory_mb * 1024 * 1024}`,
        `--fsize=${limits.disk_mb * 1024 * 1024}`,
        "--core=0",
        "--",
      ],
      ...["env", `${JOB_VARIABLE}=${name}`],
      ...["/bin/sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", checkout],
      ...inner,
    ],
    sweep: async (name, pid) => {
      await runScript('kill -KILL -- "-$1"', String(pid));
      await sweepProcesses(name);
    },
    sweepAll: sweepProcesses,
  };
}

async function countProcesses(uid: number): Promise<number> {
  const { output } = await runScript(COUNT, String(uid));
  return Number(output) || 0;
}

/**
 * Kills what is left of jobs that nothing keeps apart, on Linux; a process that cleared its
 * environment is not found.
 *
 * @param name the name of a job, or the beginning of the names of several
 */
async function sweepProcesses(name: string): Promise<void> {
  if (Deno.build.os === "linux") await runScript(SWEEP, JOB_VARIABLE, name);
}
