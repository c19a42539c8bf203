import { join } from "node:path";
import { freePort } from "../../tests/support/free_port.ts";
import { type IrcServerKind, type IrcServerProcess, untilListening } from "./server.ts";

const HOSTNAME = "127.0.0.1";

/** How to run another project's server. It keeps no accounts, and no limit slows its clients. */
export interface ForeignServer {
  readonly name: string;
  readonly executable: string;
  readonly capabilities: readonly string[];
  /** Arguments of a command that must run once before the first start, if there is one. */
  prepare?(configFile: string): string[];
  /** Arguments that run it in the foreground with this configuration file. */
  args(configFile: string): string[];
  config(port: number): string;
}

/** ngIRCd, which knows no message tags. */
export const NGIRCD = kindOf({
  name: "ngircd",
  executable: "ngircd",
  capabilities: [],
  args: (configFile) => ["--nodaemon", "--config", configFile],
  config: (port) =>
    `[Global]
Name = irc.bench.local
Info = bench
AdminEMail = admin@bench.local
Listen = ${HOSTNAME}
Ports = ${port}
[Limits]
MaxConnections = 0
MaxConnectionsIP = 0
MaxJoins = 0
MaxNickLength = 20
MaxPenaltyTime = 0
[Options]
DNS = no
Ident = no
PAM = no
`,
});

/** InspIRCd, with the modules for the same message tags as ours, except for the account. */
export const INSPIRCD = kindOf({
  name: "inspircd",
  executable: "inspircd",
  capabilities: ["server-time", "message-tags"],
  args: (configFile) => ["--nofork", "--nolog", "--runasroot", "--config", configFile],
  config: (port) =>
    `<config format="xml">
<server name="irc.bench.local" description="bench" network="bench">
<admin name="bench" nick="bench" email="admin@bench.local">
<bind address="${HOSTNAME}" port="${port}" type="clients">
<connect allow="*" timeout="60" pingfreq="600" commandrate="1000000000" threshold="1000000000"
  fakelag="no" softsendq="104857600" hardsendq="104857600" recvq="1048576" localmax="20000"
  globalmax="20000" limit="20000" resolvehostnames="no" useident="no">
<performance softlimit="20000" somaxconn="4096">
<module name="cap">
<module name="ircv3_servertime">
<module name="ircv3_ctctags">
<module name="ircv3_msgid">
`,
});

/** The kind of server that the bench starts for another project's server. */
export function kindOf(server: ForeignServer): IrcServerKind {
  return { name: server.name, start: () => startForeign(server) };
}

async function startForeign(server: ForeignServer): Promise<IrcServerProcess> {
  await using started = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: `bench-${server.name}-` });
  started.defer(() => Deno.remove(folder, { recursive: true }));
  const irc = { hostname: HOSTNAME, port: freePort() };
  const configFile = join(folder, "server.conf");
  await Deno.writeTextFile(configFile, server.config(irc.port));
  const command = (args: string[]) =>
    new Deno.Command(server.executable, {
      args,
      cwd: folder,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    });
  if (server.prepare !== undefined) await command(server.prepare(configFile)).output();
  const process = command(server.args(configFile)).spawn();
  started.defer(async () => {
    process.kill("SIGKILL");
    await process.status;
  });
  await untilListening(irc);
  const resources = started.move();
  return {
    irc,
    pid: process.pid,
    capabilities: server.capabilities,
    createLogins: (nicks) => Promise.resolve(nicks.map((nick) => ({ nick }))),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
