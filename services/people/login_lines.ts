import { Invalid } from "../kernel/errors.ts";

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

/** In place of a password that the person knows. */
const KNOWN_PASSWORD = "YOUR-PASSWORD";

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
    password: login.password ?? KNOWN_PASSWORD,
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
      throw unknownClient(client);
  }
}

/**
 * The lines to type into an IRC client that {@link loginLines} has set up, so that it logs in with
 * another password.
 *
 * @param password null if the person knows it, so that it need not be shown
 * @throws Invalid if the client is not among {@link IRC_CLIENTS}
 */
export function passwordLines(client: string, password: string | null): string {
  const shown = password ?? KNOWN_PASSWORD;
  switch (client) {
    case "irssi":
      return `In irssi:\n  /network add -sasl_password ${shown} ${NETWORK}`;
    case "weechat":
      return `In WeeChat:\n  /set irc.server.${NETWORK}.sasl_password ${shown}`;
    case "hexchat":
      return `In HexChat (Network List, Edit):\n  Password: ${shown}`;
    default:
      throw unknownClient(client);
  }
}

function unknownClient(client: string): Invalid {
  return new Invalid(`"${client}" is an unknown IRC client`);
}

interface LoginSettings {
  readonly name: string;
  readonly password: string;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly channels: readonly string[];
}

function irssi({ name, password, host, port, tls, channels }: LoginSettings): string {
  return [
    "In irssi:",
    `  /network add -sasl_username ${name} -sasl_password ${password} -sasl_mechanism PLAIN ${NETWORK}`,
    `  /server add -network ${NETWORK} ${tls ? "-tls" : "-notls"} ${host} ${port}`,
    ...channels.map((channel) => `  /channel add -auto ${channel} ${NETWORK}`),
    `  /set nick ${name}`,
    // What was said before one came is shown with its own time.
    "  /set show_server_time on",
    `  /connect ${NETWORK}`,
  ].join("\n");
}

function weechat({ name, password, host, port, tls, channels }: LoginSettings): string {
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

function hexchat({ name, password, host, port, tls, channels }: LoginSettings): string {
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
