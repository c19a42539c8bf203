/** How a console's nick ends: see {@linkcode consoleNickOf}. */
export const CONSOLE = "-console";

/** The keys that give a server's connections to IRC their nicks. */
interface NamedBridge {
  readonly node: { readonly name: string };
  readonly bridge: { readonly nick: string };
}

/** The nick of a server's bridge: each node has its own. */
export function bridgeNickOf({ node: { name }, bridge: { nick } }: NamedBridge): string {
  return name === "" ? nick : `${nick}-${name}`;
}

/** The nick of a server's connection to the services of an IRC network. */
export function consoleNickOf(config: NamedBridge): string {
  return bridgeNickOf(config) + CONSOLE;
}
