/**
 * Other projects' programs that some tests need. If such a program is missing, the test is ignored,
 * with the line that installs it; with `MUSTER_PEERS=required` in the environment, it fails
 * instead. A quick run ignores all of them.
 */
import { IS_QUICK } from "./level.ts";

/** How to install each program on Debian. */
const INSTALL: ReadonlyMap<string, string> = new Map([
  ["catgirl", "apt-get install catgirl"],
  ["anope", "apt-get install anope"],
  ["atheme-services", "apt-get install atheme-services"],
  ["bwrap", "apt-get install bubblewrap"],
  ["caddy", "apt-get install caddy"],
  ["chromium", "apt-get install chromium"],
  ["fish", "apt-get install fish"],
  ["fossil", "apt-get install fossil"],
  ["mcp clients", 'export MUSTER_MCP_CLIENTS="$(scripts/mcp_clients)"'],
  ["git", "apt-get install git"],
  ["git-lfs", "apt-get install git-lfs"],
  ["git clients", 'export MUSTER_GIT_CLIENTS="$(scripts/git_clients)"'],
  ["gpg", "apt-get install gpg"],
  ["inspircd", "apt-get install inspircd"],
  ["irssi", "apt-get install irssi"],
  ["man", "apt-get install man-db"],
  ["mandoc", "apt-get install mandoc"],
  ["newer fossil", 'export MUSTER_NEWER_FOSSIL="$(scripts/newer_fossil)"'],
  ["nginx", "apt-get install nginx-light"],
  ["openssl", "apt-get install openssl"],
  ["pebble", "apt-get install pebble"],
  ["python clients", 'export MUSTER_PYTHON_CLIENTS="$(scripts/python_clients)"'],
  ["podman", "apt-get install podman"],
  ["postgres", "apt-get install postgresql"],
  ["postgres server", "run the tests with scripts/test_postgres"],
  ["promtool", "apt-get install prometheus"],
  ["python3", "apt-get install python3"],
  ["rg", "apt-get install ripgrep"],
  ["sdk tools", 'export MUSTER_SDK_TOOLS="$(scripts/sdk_tools)"'],
  ["setpriv", "apt-get install util-linux"],
  ["shellcheck", "apt-get install shellcheck"],
  ["systemd-analyze", "apt-get install systemd"],
  ["ssh-keygen", "apt-get install openssh-client"],
  ["tmux", "apt-get install tmux"],
  ["weechat", "apt-get install weechat-curses"],
  ["zsh", "apt-get install zsh"],
]);

/**
 * Options for `Deno.test` of a test that needs a program.
 *
 * @throws {Error} The program is missing, the run is not quick, and `MUSTER_PEERS` is `required`.
 */
export function peer(program: string): { ignore: boolean } {
  if (IS_QUICK) return { ignore: true };
  if (isInstalled(program)) return { ignore: false };
  const message = `"${program}" is missing; ${INSTALL.get(program) ?? `install ${program}`}`;
  if (Deno.env.get("MUSTER_PEERS") === "required") throw new Error(message);
  if (!told.has(program)) Deno.stderr.writeSync(new TextEncoder().encode(`ignored: ${message}\n`));
  told.add(program);
  return { ignore: true };
}

/** Missing programs that this test file has already reported. */
const told = new Set<string>();

/** Path of a `fossil` newer than the machine's, from the environment; otherwise empty. */
export function newerFossil(): string {
  return Deno.env.get("MUSTER_NEWER_FOSSIL") ?? "";
}

/** The URL of a server of PostgreSQL, from `scripts/test_postgres`; otherwise empty. */
export function postgresServer(): string {
  return Deno.env.get("MUSTER_TEST_DATABASE") ?? Deno.env.get("MUSTER_TEST_POSTGRES") ?? "";
}

/** The folder of foreign clients of MCP that `scripts/mcp_clients` made; otherwise empty. */
export function mcpClients(): string {
  return Deno.env.get("MUSTER_MCP_CLIENTS") ?? "";
}

/** The folder of foreign clients of Git that `scripts/git_clients` made; otherwise empty. */
export function gitClients(): string {
  return Deno.env.get("MUSTER_GIT_CLIENTS") ?? "";
}

/**
 * Path of a `forgejo-runner`, version 12 or newer, from the environment; otherwise empty. Its project
 * offers it; nothing here can fetch it, so a run that requires all peers goes without it.
 */
export function forgejoRunner(): string {
  return Deno.env.get("MUSTER_PEER_FORGEJO_RUNNER") ?? "";
}

/** The folder of what builds the clients of `clients/`, from `scripts/sdk_tools`; otherwise empty. */
export function sdkTools(): string {
  return Deno.env.get("MUSTER_SDK_TOOLS") ?? "";
}

/** Path of a Python with the packages of `scripts/python_clients`; otherwise empty. */
export function pythonClients(): string {
  return Deno.env.get("MUSTER_PYTHON_CLIENTS") ?? "";
}

/** The folder of PostgreSQL's programs, of which Debian links only some into the PATH; or empty. */
export function postgresPrograms(): string {
  const root = "/usr/lib/postgresql";
  try {
    const versions = [...Deno.readDirSync(root)].map(({ name }) => name)
      .filter((name) => isFile(`${root}/${name}/bin/postgres`))
      .sort((one, other) => Number(other) - Number(one));
    return versions[0] === undefined ? "" : `${root}/${versions[0]}/bin`;
  } catch {
    return "";
  }
}

function isInstalled(program: string): boolean {
  if (program === "postgres" && postgresPrograms() !== "") return true;
  if (program === "python clients") return isFile(pythonClients());
  if (program === "git clients") return isFile(`${gitClients()}/complete`);
  if (program === "sdk tools") return isFile(`${sdkTools()}/complete`);
  if (program === "mcp clients") return isFile(`${mcpClients()}/complete`);
  if (program === "postgres server") return postgresServer() !== "";
  if (program === "newer fossil") return isFile(newerFossil());
  const folders = (Deno.env.get("PATH") ?? "").split(":").filter((folder) => folder !== "");
  return folders.some((folder) => isFile(`${folder}/${program}`));
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
