/** The keys of an external IRC network. */

import { z } from "zod";
import { isNick } from "../irc/mod.ts";
import { parseAddress } from "./address.ts";

const secret = { text: z.string().default(""), file: z.string().default("") };

const serviceNick = z.string().refine(isNick, { error: "must be an IRC nick" });

/** The HTTP API of Ergo: `host:port`, or a URL without a path. */
const apiAddress = z.string().refine(
  (text) => text === "" || parseAddress(text) !== null || /^https?:\/\/[^\s/]+\/?$/.test(text),
  { error: 'must be "host:port", or a URL such as "https://irc.example.com:8089"' },
);

/** Keys of `irc` that apply if its mode is `external`. */
export const networkKeys = {
  admins: z.array(z.string()).default([]),
  addr: z.string().refine((text) => text === "" || /^[^:]|^\[/.test(text), {
    error: 'must be "host:port"',
  }).refine((text) => text === "" || parseAddress(text) !== null, {
    error: 'must be "host:port"',
  }).default(""),
  tls: z.strictObject({
    enabled: z.boolean().default(false),
    ca: z.string().default(""),
    server_name: z.string().default(""),
  }).prefault({}),
  ergo: z.strictObject({
    api_addr: apiAddress.default(""),
    api_token: secret.text,
    api_token_file: secret.file,
  }).prefault({}),
  services: z.strictObject({
    kind: z.enum(["", "atheme", "anope"], { error: 'must be "atheme", "anope" or ""' }).default(""),
    account: z.string().default(""),
    password: secret.text,
    password_file: secret.file,
    oper: z.string().default(""),
    oper_password: secret.text,
    oper_password_file: secret.file,
    nickserv: serviceNick.default("NickServ"),
    chanserv: serviceNick.default("ChanServ"),
  }).prefault({}),
};

/** The keys that decide whether a network can be used. */
interface NetworkConfig {
  readonly irc: { readonly mode: string } & z.infer<z.ZodObject<typeof networkKeys>>;
  readonly bridge: {
    readonly account: string;
    readonly password: string;
    readonly password_file: string;
  };
}

/** A missing or superfluous key, by its path. */
export interface NetworkProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** Finds what keeps a configuration from being used with an external network. */
export function checkNetwork({ irc, bridge }: NetworkConfig): NetworkProblem[] {
  const problems: NetworkProblem[] = [];
  const demand = (holds: boolean, path: string, message: string) => {
    if (!holds) problems.push({ path: path.split("."), message });
  };
  const { mode, addr, admins, ergo, services } = irc;
  const given = (text: string, file: string) => text !== "" || file !== "";
  const once = (text: string, file: string, path: string) =>
    demand(text === "" || file === "", path, "is given twice, here and in a file");
  once(ergo.api_token, ergo.api_token_file, "irc.ergo.api_token");
  once(services.password, services.password_file, "irc.services.password");
  once(services.oper_password, services.oper_password_file, "irc.services.oper_password");
  once(bridge.password, bridge.password_file, "bridge.password");
  if (mode !== "external") {
    demand(addr === "", "irc.addr", 'needs "irc.mode: external"');
    demand(admins.length === 0, "irc.admins", 'needs "irc.mode: external"');
    return problems;
  }
  demand(addr !== "", "irc.addr", 'is needed where "irc.mode" is "external"');
  const kinds = Number(ergo.api_addr !== "") + Number(services.kind !== "");
  demand(kinds > 0, "irc.services.kind", 'is needed, or "irc.ergo.api_addr" where it is Ergo');
  demand(kinds < 2, "irc.services.kind", 'must be "" where "irc.ergo.api_addr" is given');
  demand(
    ergo.api_addr === "" || given(ergo.api_token, ergo.api_token_file),
    "irc.ergo.api_token",
    'is needed, or "irc.ergo.api_token_file"',
  );
  demand(services.oper !== "", "irc.services.oper", "is needed: only an operator ends sessions");
  demand(
    given(services.oper_password, services.oper_password_file),
    "irc.services.oper_password",
    'is needed, or "irc.services.oper_password_file"',
  );
  demand(
    services.account !== "" || services.kind === "",
    "irc.services.account",
    "is needed: services look at its rights",
  );
  demand(
    services.account === "" || given(services.password, services.password_file),
    "irc.services.password",
    'is needed for "irc.services.account"',
  );
  return problems;
}
