/** bubblewrap: namespaces of Linux, without a daemon, an image, or root. */
import { type Bounds, type Missing, type Places, type Sandbox } from "./sandbox.ts";
import { type Account, asAccount } from "./accounts.ts";
import { run, runScript, whichProgram } from "./shell.ts";

/** Where the job finds its folders. */
const INSIDE: Places = { checkout: "/work/checkout", home: "/work/home" };
/** The account inside, whatever it is outside. */
const ID = "1000";

/** What programs need of /etc: how to find libraries, names and certificates; no configuration. */
const SETTINGS = [
  "alternatives",
  "ca-certificates",
  "ca-certificates.conf",
  "crypto-policies",
  "debian_version",
  "fonts",
  "group",
  "hosts",
  "java",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "magic",
  "mime.types",
  "nsswitch.conf",
  "os-release",
  "passwd",
  "perl",
  "pki",
  "protocols",
  "python3",
  "services",
  "ssl",
  "terminfo",
  "timezone",
];

/** Folders of programs that are not below /usr everywhere. */
const SYSTEM = ["bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt", "nix"];

/** Most space of /tmp and of /dev/shm, each, as a part of the job's memory. */
const TEMPORARY_SHARE = 4;

export interface BwrapOptions {
  /** Who runs jobs: see `accounts.ts`. */
  readonly account: Account;
  /** Folders that a job may read, beside those of the system. */
  readonly shared: readonly string[];
}

/** Tries bubblewrap as jobs will use it. */
export async function findBwrap(options: BwrapOptions): Promise<Sandbox | Missing> {
  if (Deno.build.os !== "linux") return { kind: "bwrap", why: "bubblewrap is for Linux" };
  const [program, prlimit, resolver] = await Promise.all([
    whichProgram("bwrap"),
    whichProgram("prlimit"),
    realPath("/etc/resolv.conf"),
  ]);
  if (program === null) {
    return { kind: "bwrap", why: "there is no bwrap: install the package bubblewrap" };
  }
  if (prlimit === null) {
    return { kind: "bwrap", why: "there is no prlimit: install the package util-linux" };
  }
  const system = await systemFolders();
  const outer = (network: boolean, temporaryMb: number, bind: readonly string[]) => [
    ...asAccount(options.account),
    program,
    ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts"],
    ...network ? [] : ["--unshare-net"],
    ...["--unshare-cgroup-try", "--disable-userns", "--die-with-parent", "--new-session"],
    ...["--uid", ID, "--gid", ID, "--hostname", "muster"],
    ...["--ro-bind", "/usr", "/usr", ...system],
    ...SETTINGS.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    ...network && resolver !== null ? ["--ro-bind", resolver, "/etc/resolv.conf"] : [],
    ...options.shared.flatMap((path) => ["--ro-bind", path, path]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...["--size", String(temporaryMb * 1024 * 1024), "--tmpfs", "/dev/shm"],
    ...["--size", String(temporaryMb * 1024 * 1024), "--tmpfs", "/tmp"],
    ...bind,
    ...["--remount-ro", "/dev", "--remount-ro", "/"],
  ];
  const { success, error } = await run([...outer(false, 1, []), "/bin/sh", "-c", ":"]);
  if (!success) {
    const line = error.split("\n")[0] ?? "";
    const why = `bwrap fails with "${line}": the system may forbid user namespaces`;
    return { kind: "bwrap", why };
  }
  return {
    kind: "bwrap",
    about: "bubblewrap: the system read-only, no other files, no other processes, no network " +
      "unless a check asks for it",
    all: "-1",
    owner: options.account,
    inside: () => INSIDE,
    command: ({ network, limits }: Bounds, { checkout, home }: Places, inner) => [
      ...outer(network, Math.max(1, Math.floor(limits.memory_mb / TEMPORARY_SHARE)), [
        ...["--bind", checkout, INSIDE.checkout, "--bind", home, INSIDE.home],
        ...["--chdir", INSIDE.checkout],
      ]),
      // Since Linux 5.14, processes are counted for each user namespace.
      ...[prlimit, `--nproc=${limits.processes}`, `--data=${limits.memory_mb * 1024 * 1024}`],
      ...[`--fsize=${limits.disk_mb * 1024 * 1024}`, "--core=0", "--"],
      ...inner,
    ],
  };
}

/** The folders of the system, or their links into /usr, as arguments of bwrap. */
async function systemFolders(): Promise<string[]> {
  const found = await Promise.all(SYSTEM.map(async (name) => {
    const path = `/${name}`;
    try {
      const { isSymlink } = await Deno.lstat(path);
      return isSymlink ? ["--symlink", await Deno.readLink(path), path] : ["--ro-bind", path, path];
    } catch {
      return [];
    }
  }));
  return found.flat();
}

async function realPath(path: string): Promise<string | null> {
  const { success, output } = await runScript('readlink -f "$1" && [ -r "$1" ]', path);
  return success ? output : null;
}
