/** Pushes a stream of `git fast-import` to a Git remote, with the `git` of this machine. */
import { Buffer } from "node:buffer";
import { type Remote, RemoteError } from "./records.ts";

/** Longest text of a failed command that an error repeats, in characters. */
const MAX_REASON = 500;

/** The first version of git that connects to a given address only. */
const MIN_VERSION = [2, 37] as const;

/**
 * Where git may be. muster may start programs by their paths alone (`deno.json`): a name without a
 * folder would need a PATH, and the executable would not start without one.
 */
const PROGRAMS = ["/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git"];

/** What to push, and where. */
export interface GitPush {
  /** The stream of `git fast-import`. */
  readonly stream: string;
  /** The folder of the bare repository between two runs; it is made if it is missing. */
  readonly folder: string;
  readonly remote: GitRemote;
  /** Beginnings of the names of branches that no mirror has; earlier versions pushed them. */
  readonly withoutBranches?: readonly string[];
  readonly signal: AbortSignal;
  /** Where git may be. */
  readonly programs?: readonly string[];
}

export interface GitRemote extends Remote {
  /** The addresses of the host that git may connect to; empty for a host that is an address. */
  readonly addresses: readonly string[];
}

/**
 * Imports the stream into the bare repository and pushes its branches and tags. Equal check-ins have
 * equal hashes, so git sends only what is new. Other branches of the remote stay, but for those that
 * this mirror pushed before and leaves out now.
 *
 * @throws RemoteError
 */
export async function pushToGit(push: GitPush): Promise<void> {
  const { stream, folder, remote, withoutBranches = [] } = push;
  const git = new Git(push);
  await git.requireVersion();
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  await git.run(["init", "--quiet", "--bare", folder]);
  const known = (await git.run(["for-each-ref", "--format=%(refname)"])).split("\n");
  const leftOut = known.filter((ref) =>
    withoutBranches.some((start) => ref.startsWith(`refs/heads/${start}`))
  );
  // A name that the project no longer has could be a folder of another one.
  await git.remove(known.filter((ref) => ref !== "" && !leftOut.includes(ref)));
  await git.run(
    ["fast-import", "--quiet", "--force", "--date-format=raw-permissive"],
    (await Deno.open(stream)).readable,
  );
  const refs = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
  const not = withoutBranches.map((start) => `^refs/heads/${start}*`);
  await git.run(["push", "--quiet", remote.url.href, ...refs, ...not]);
  if (leftOut.length > 0) {
    const gone = leftOut.map((ref) => `:${ref}`);
    await git.run(["push", "--quiet", remote.url.href, ...gone]);
    await git.remove(leftOut);
  }
  await git.run(["-c", "gc.autoDetach=false", "gc", "--auto", "--quiet"]);
}

class Git {
  readonly #folder: string;
  readonly #signal: AbortSignal;
  readonly #environment: Record<string, string>;
  readonly #secrets: readonly string[];
  readonly #programs: readonly string[];

  constructor(push: GitPush) {
    const { folder, remote, signal, programs = PROGRAMS } = push;
    this.#programs = programs;
    this.#folder = folder;
    this.#signal = signal;
    const header = headerOf(remote);
    this.#environment = environmentOf(folder, remote, header);
    this.#secrets = header === null ? [] : [header, remote.credentials?.password ?? header];
  }

  async requireVersion(): Promise<void> {
    const [, major = "0", minor = "0"] =
      /(?<!\d)(\d+)\.(\d+)/.exec(await this.run(["--version"])) ?? [];
    const [least, leastMinor] = MIN_VERSION;
    if (Number(major) > least || (Number(major) === least && Number(minor) >= leastMinor)) return;
    throw new RemoteError(`git on the server is older than ${MIN_VERSION.join(".")}: update it`);
  }

  /** Removes references of the bare repository. */
  async remove(refs: readonly string[]): Promise<void> {
    if (refs.length === 0) return;
    const commands = refs.map((ref) => `delete ${ref}\n`).join("");
    await this.run(["update-ref", "--stdin"], new Blob([commands]).stream());
  }

  /** Runs a command, with its standard input if it has one, and returns its output. */
  async run(args: readonly string[], input?: ReadableStream<Uint8Array>): Promise<string> {
    const process = this.#spawn(args, input !== undefined);
    const fed = input === undefined ? null : feed(process, input);
    const { success, stdout, stderr } = await process.output();
    const isFed = await fed;
    if (this.#signal.aborted) throw new RemoteError("The push did not end in time");
    if (success && isFed !== false) return new TextDecoder().decode(stdout);
    throw new RemoteError(`git ${commandOf(args)} failed: ${this.#reason(stderr)}`);
  }

  #spawn(args: readonly string[], hasInput: boolean): Deno.ChildProcess {
    for (const program of this.#programs) {
      try {
        return new Deno.Command(program, {
          args: ["-c", `safe.directory=${this.#folder}`, ...args],
          clearEnv: true,
          env: this.#environment,
          stdin: hasInput ? "piped" : "null",
          stdout: "piped",
          stderr: "piped",
          signal: this.#signal,
        }).spawn();
      } catch (error) {
        if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable) {
          continue;
        }
        throw error;
      }
    }
    throw new RemoteError("git is not installed on the server: install it, and run again");
  }

  /** The end of what a command said, without secrets. */
  #reason(stderr: Uint8Array): string {
    const text = new TextDecoder().decode(stderr.subarray(-4096)).trim();
    const safe = this.#secrets.reduce((all, secret) => all.replaceAll(secret, "…"), text);
    return safe.replaceAll(/\s+/g, " ").slice(-MAX_REASON) || "it gave no reason";
  }
}

/** The name of a command after its settings. */
function commandOf(args: readonly string[]): string {
  return args.find((word, i) => !word.startsWith("-") && args[i - 1] !== "-c") ?? "--version";
}

/** Writes to the standard input of a process; false if the process ended before. */
async function feed(
  process: Deno.ChildProcess,
  input: ReadableStream<Uint8Array>,
): Promise<boolean> {
  try {
    await input.pipeTo(process.stdin);
    return true;
  } catch {
    return false;
  }
}

function headerOf({ credentials }: GitRemote): string | null {
  if (credentials === null) return null;
  const { username, password } = credentials;
  return Buffer.from(`${username}:${password}`).toString("base64");
}

/**
 * The whole environment of git: nothing of the person's configuration, no question, no redirect, and
 * no other address than the checked ones. The credentials are here, since others see command lines.
 */
function environmentOf(
  folder: string,
  { url, addresses }: GitRemote,
  header: string | null,
): Record<string, string> {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const settings: (readonly [string, string])[] = [
    ["http.followRedirects", "false"],
    ["http.curloptResolve", `${url.hostname}:${port}:${addresses.map(bracketed).join()}`],
    ["http.extraHeader", `Authorization: Basic ${header}`],
  ];
  const used = settings.filter(([key]) =>
    key === "http.extraHeader" ? header !== null : !key.endsWith("Resolve") || addresses.length > 0
  );
  return {
    PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
    HOME: folder,
    GIT_DIR: folder,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ALLOW_PROTOCOL: "http:https",
    GIT_CONFIG_COUNT: String(used.length),
    ...Object.fromEntries(used.flatMap(([key, value], i) => [
      [`GIT_CONFIG_KEY_${i}`, key],
      [`GIT_CONFIG_VALUE_${i}`, value],
    ])),
  };
}

function bracketed(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
