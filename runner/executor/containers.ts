/** Containers of podman or docker, for checks that name an image. */
import type { Account } from "./accounts.ts";
import { type Bounds, type Missing, type Places, type Sandbox } from "./sandbox.ts";
import { run, runScript, whichProgram } from "./shell.ts";

/** Where the job finds its folders. */
const INSIDE: Places = { checkout: "/work/checkout", home: "/work/home" };

/** What the client of an engine needs of the runner's own environment. */
const CLIENT = [
  "CONTAINER_HOST",
  "DOCKER_CONFIG",
  "DOCKER_HOST",
  "HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_RUNTIME_DIR",
];

/** Most space of /tmp and of /dev/shm, each, as a part of the job's memory. */
const TEMPORARY_SHARE = 4;

/** The limits that this account can give others (getrlimit(2)). */
const HARD_LIMITS = 'prlimit --pid "$$" --nofile --nproc --noheadings --raw --output HARD';

const MAX_FILES = 65_536;
/** Of the account; those of a job are bounded by its control group. */
const MAX_PROCESSES = 32_768;

/** By this label, the containers of a runner that was killed are found. */
const LABEL = "muster-runner";

export interface ContainerOptions {
  readonly engine: "podman" | "docker";
  /** Who runs jobs: see `accounts.ts`. */
  readonly account: Account;
}

/** Tries an engine, without an image. */
export async function findContainers(
  { engine, account }: ContainerOptions,
): Promise<Sandbox | Missing> {
  const program = await whichProgram(engine);
  if (program === null) return { kind: engine, why: `there is no ${engine}` };
  const environment = Object.fromEntries(CLIENT.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
  const { success, error } = await run([program, "ps", "--quiet"], environment);
  if (!success) return { kind: engine, why: `${engine} fails with "${error.split("\n")[0]}"` };
  const ulimits = await limits();
  const user = userOf(engine, account);
  return {
    kind: engine,
    about: `containers of ${engine}: the image read-only, no other files, no other processes, ` +
      "no network unless a check asks for it",
    all: "-1",
    owner: account,
    environment,
    inside: () => INSIDE,
    command: ({ network, image, limits }: Bounds, { checkout, home, name }, inner) => {
      const temporaryMb = Math.max(1, Math.floor(limits.memory_mb / TEMPORARY_SHARE));
      const [entry = "", ...rest] = inner;
      return [
        ...[program, "run", "--rm", "--interactive", "--name", name],
        ...["--label", `${LABEL}=${name.split("-")[0]}`],
        ...["--cap-drop", "all", "--security-opt", "no-new-privileges"],
        ...["--security-opt", "label=disable", "--read-only"],
        ...["--tmpfs", `/tmp:size=${temporaryMb}m`, "--shm-size", `${temporaryMb}m`],
        ...["--memory", `${limits.memory_mb}m`, "--memory-swap", `${limits.memory_mb}m`],
        ...["--pids-limit", String(limits.processes), ...ulimits, ...user],
        ...["--ulimit", `fsize=${limits.disk_mb * 1024 * 1024}`, "--ulimit", "core=0"],
        ...network ? [] : ["--network", "none"],
        ...["--hostname", "muster", "--workdir", INSIDE.checkout],
        ...["--volume", `${checkout}:${INSIDE.checkout}`, "--volume", `${home}:${INSIDE.home}`],
        ...["--entrypoint", entry, image ?? "", ...rest],
      ];
    },
    sweep: async (name) => void await run([program, "rm", "--force", name], environment),
    sweepAll: async (key) => {
      const filter = `label=${LABEL}=${key}`;
      const { output } = await run([program, "ps", "-aq", "--filter", filter], environment);
      const ids = output.split("\n").filter((id) => id !== "");
      if (ids.length > 0) await run([program, "rm", "--force", ...ids], environment);
    },
  };
}

/** What an engine would raise, an account of few rights must leave as it is. */
async function limits(): Promise<string[]> {
  const { success, output } = await runScript(HARD_LIMITS);
  if (!success) return [];
  const [files = "", processes = ""] = output.split("\n").map((text) => text.trim());
  const shown = (limit: string, most: number) => Math.min(Number(limit) || most, most);
  return [
    ...["--ulimit", `nofile=${shown(files, MAX_FILES)}`],
    ...["--ulimit", `nproc=${shown(processes, MAX_PROCESSES)}`],
  ];
}

/** Who is who inside: in a container of podman without root, its root is the runner's account. */
function userOf(engine: ContainerOptions["engine"], account: Account): string[] {
  if (account !== null) return ["--user", `${account.uid}:${account.gid}`];
  return engine === "podman" ? [] : ["--user", `${Deno.uid()}:${Deno.gid()}`];
}
