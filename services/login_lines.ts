import { Invalid } from "./errors.ts";

/** The IRC clients for which {@link loginLines} knows the commands. */
export const IRC_CLIENTS = Object.freeze(["irssi", "weechat", "hexchat"]);

/** A client's login. */
export interface Login {
  readonly name: string;
  /** Null if the person knows it, so that it need not be shown. */
  readonly password: string | null;
  /** `irc://host:port` or `ircs://host:port`. */
  readonly server: string;
  readonly channels?: readonly string[] | undefined;
}

/** The name of the network in the client. */
const NETWORK = "muster";

/**
 * The lines to type into an IRC client so that it logs in by SASL PLAIN and joins its channels.
 *
 * @throws Invalid if the client is not among {@link IRC_CLIENTS}
 */
export function loginLines(client: string, login: Login): string {
  const url = new URL(login.server.replace(/^irc/, "http"));
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const connection = {
    name: login.name,
    password: login.password ?? "YOUR-PASSWORD",
    host,
    port: Number(url.port),
    tls: login.server.startsWith("ircs:"),
    channels: (login.channels ?? []).map((name) => name.startsWith("#") ? name : `#${name}`),
  };
  switch (client) {
    case "irssi":
      return irssi(connection);
    case "weechat":
      return weechat(connection);
    case "hexchat":
      return hexchat(connection);
    default:
      throw new Invalid(`"${client}" is an unknown IRC client`);
  }
}

interface Connection {
  readonly name: string;
  readonly password: string;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly channels: readonly string[];
}

function irssi({ name, password, host, port, tls, channels }: Connection): string {
  return [
    "In irssi:",
    `  /network add -sasl_username ${name} -sasl_password ${password} -sasl_mechanism PLAIN ${NETWORK}`,
    `  /server add -network ${NETWORK} ${tls ? "-tls" : "-notls"} ${host} ${port}`,
    ...channels.map((channel) => `  /channel add -auto ${channel} ${NETWORK}`),
    `  /set nick ${name}`,
    `  /connect ${NETWORK}`,
  ].join("\n");
}

function weechat({ name, password, host, port, tls, channels }: Connection): string {
  const server = `irc.server.${NETWORK}`;
  return [
    "In WeeChat (before 4.0, the option tls is called ssl; WeeChat reports the one that it lacks):",
    `  /server add ${NETWORK} ${host}/${port}`,
    `  /set ${server}.tls ${tls ? "on" : "off"}`,
    `  /set ${server}.ssl ${tls ? "on" : "off"}`,
    `  /set ${server}.sasl_mechanism plain`,
    `  /set ${server}.sasl_username ${name}`,
    `  /set ${server}.sasl_password ${password}`,
    `  /set ${server}.nicks ${name}`,
    ...(channels.length > 0 ? [`  /set ${server}.autojoin ${channels.join(",")}`] : []),
    `  /connect ${NETWORK}`,
  ].join("\n");
}

function hexchat({ name, password, host, port, tls, channels }: Connection): string {
  return [
    "In HexChat (Network List, Add, Edit):",
    `  Servers: ${host}/${port}`,
    `  Use SSL for all the servers on this network: ${tls ? "on" : "off"}`,
    `  Login method: SASL PLAIN (username + password)`,
    `  User name, Nick name: ${name}`,
    `  Password: ${password}`,
    ...(channels.length > 0 ? [`  Autojoin channels: ${channels.join(", ")}`] : []),
  ].join("\n");
}
