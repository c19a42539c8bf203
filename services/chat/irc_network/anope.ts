import type { ServicesDialect } from "./dialect.ts";

const ACCOUNT = /^\s*Account: (\S+)$/u;
const UNKNOWN = /^Nick \S+ isn't registered\.$/u;
const ADDRESS = /^\s*Email address: (\S+)/u;
const SUSPENDED = /^\s*Suspended: /u;

/**
 * Anope 2.0. The operator needs an operator type with the commands `nickserv/suspend`,
 * `nickserv/saset/password`, `nickserv/saset/email`, `nickserv/saset/noexpire` and the privileges `nickserv/auspex`,
 * `nickserv/confirm`, `nickserv/drop`; for the status in channels `chanserv/access/modify` and
 * `chanserv/administration`. `passlen` must be at least 64.
 */
export const ANOPE: ServicesDialect = {
  name: "Anope",
  greeting: ["SET LANGUAGE en"],
  readInfo(lines) {
    if (UNKNOWN.test(lines[0] ?? "")) return null;
    const account = lines.map((line) => ACCOUNT.exec(line)?.[1]).find((name) => name !== undefined);
    if (account === undefined) return "unclear";
    const address = lines.map((line) => ADDRESS.exec(line)?.[1]).find(Boolean) ?? null;
    const suspended = lines.some((line) => SUSPENDED.test(line));
    return { account, suspended, online: [], address };
  },
  settle: (account) => [`CONFIRM ${account}`, `SASET NOEXPIRE ${account} ON`],
  suspend: (account, reason) => `SUSPEND ${account} +0 ${reason}`,
  unsuspend: (account) => `UNSUSPEND ${account}`,
  remove: (account) => [`DROP ${account}`],
  async setPassphrase(desk, account, passphrase) {
    await desk.converse(`SASET PASSWORD ${account} ${passphrase}`);
  },
  async setAddress(desk, account, address) {
    await desk.converse(`SASET EMAIL ${account} ${address}`);
  },
  probes: {
    "the command nickserv/suspend": "SUSPEND * +0 check",
    "the command nickserv/saset/password": "SASET PASSWORD * check",
  },
  /** `SYNC` grants missing statuses, and removes none from present members. */
  channelStatus: (channel, account, status) => [
    `AOP ${channel} ${status === "operator" ? "ADD" : "DEL"} ${account}`,
    `VOP ${channel} ${status === "voice" ? "ADD" : "DEL"} ${account}`,
    ...(status === "operator" ? [] : [`DEOP ${channel} ${account}`]),
    ...(status === "voice" ? [] : [`DEVOICE ${channel} ${account}`]),
    ...(status === null ? [] : [`SYNC ${channel}`]),
  ],
};
