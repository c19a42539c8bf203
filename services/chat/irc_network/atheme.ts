import { Unavailable } from "../../kernel/errors.ts";
import type { ServicesDialect } from "./dialect.ts";

/** The first line about an account: the requested nick, and its owner. */
const INFORMATION = /^Information on \S+ \(account (\S+)\):$/u;
const UNKNOWN = /^\S+ is not registered\.$/u;
const FROZEN = /^\S+ was FROZEN by /u;
const ADDRESS = /^Email\s*: (\S+)/u;
const LOGINS = /^Logins from: (.*)$/u;

/** Starts and ends bold, which Atheme uses for given and generated values. */
const BOLD = "\x02";

/** ChanServ's flags: `o` and `v` give a status on request, `O` and `V` automatically. */
const FLAGS = { operator: "-V+Oo", voice: "-Oo+Vv", none: "-OoVv" } as const;

/**
 * Atheme 7.2. The operator needs an operator class with `general:auspex`, `general:flood`,
 * `user:auspex`, `user:admin`, `user:hold`, `chan:auspex` and `chan:admin`, and the modules
 * `nickserv/freeze`, `drop`, `hold`, `info`, `resetpass`, `set_password` and, if addresses are
 * verified, `verify`; for the status in channels `chanserv/fflags`, and `chanserv/sync` so that it
 * holds at once.
 */
export const ATHEME: ServicesDialect = {
  name: "Atheme",
  greeting: ["SET LANGUAGE en"],
  readInfo(lines) {
    const [first = ""] = lines;
    if (UNKNOWN.test(first)) return null;
    const account = INFORMATION.exec(first)?.[1];
    if (account === undefined) return "unclear";
    const logins = lines.map((line) => LOGINS.exec(line)?.[1]).find((names) => names !== undefined);
    const online = (logins ?? "").split(" ").filter((nick) => nick !== "");
    const address = lines.map((line) => ADDRESS.exec(line)?.[1]).find(Boolean) ?? null;
    return { account, suspended: lines.some((line) => FROZEN.test(line)), online, address };
  },
  settle: (account) => [`FVERIFY REGISTER ${account}`, `HOLD ${account} ON`],
  suspend: (account, reason) => `FREEZE ${account} ON ${reason}`,
  unsuspend: (account) => `FREEZE ${account} OFF`,
  remove: (account) => [`HOLD ${account} OFF`, `FDROP ${account}`],

  /**
   * An operator cannot choose the passphrase: `RESETPASS` generates one, with which the account
   * then sets its own.
   */
  async setPassphrase(desk, account, passphrase) {
    const [line = ""] = await desk.converse(`RESETPASS ${account}`);
    const interim = line.split(BOLD).at(-2);
    const session = interim === undefined ? null : await desk.logIn(account, interim);
    if (session === null) {
      throw new Unavailable(`NickServ of Atheme did not reset the passphrase of "${account}"`);
    }
    try {
      await session.converse(desk.nickServ, `SET PASSWORD ${passphrase}`);
    } finally {
      session.close();
    }
  },
  /** Only the account itself can, so this logs in to the account with its passphrase. */
  async setAddress(desk, account, address, passphrase) {
    const session = passphrase === null ? null : await desk.logIn(account, passphrase);
    if (session === null) return;
    try {
      await session.converse(desk.nickServ, `SET EMAIL ${address}`);
    } finally {
      session.close();
    }
    await desk.converse(`FVERIFY EMAILCHG ${account}`);
  },
  probes: {
    "user:admin (FREEZE)": "FREEZE * ON check",
    "user:admin (RESETPASS)": "RESETPASS *",
    "user:admin (FDROP)": "FDROP *",
  },
  channelStatus: (channel, account, status) => [
    `FFLAGS ${channel} ${account} ${FLAGS[status ?? "none"]}`,
  ],
};
