import type { LineConnection } from "../../../../services/chat/bridge/mod.ts";
import type { IrcServer } from "../../../../services/engines/irc/mod.ts";

/** A connection to a server that is older than it is: it offers none of these capabilities. */
export class Veil implements LineConnection {
  onLine: ((line: string) => void) | null = null;
  onClose: ((reason: string) => void) | null = null;
  /** What the bridge has sent. */
  readonly sent: string[] = [];
  /** Whether a line of the bridge never reaches the server, which tells nobody. */
  swallows: (line: string) => boolean = () => false;
  /** Whether a line of the server never reaches the bridge. */
  hides: (line: string) => boolean = () => false;
  readonly #inner: LineConnection;

  constructor(server: IrcServer, hidden: readonly string[]) {
    this.#inner = server.connect();
    this.#inner.onLine = (line) => {
      if (this.hides(line)) return;
      this.onLine?.(/ CAP \S+ LS /.test(line) ? without(line, hidden) : line);
    };
    this.#inner.onClose = (reason) => this.onClose?.(reason);
  }

  get closed(): boolean {
    return this.#inner.closed;
  }

  send(line: string): void {
    this.sent.push(line);
    if (!this.swallows(line)) this.#inner.send(line);
  }

  close(): void {
    this.#inner.close();
  }
}

function without(line: string, hidden: readonly string[]): string {
  return line.split(" ").map((word) => word.startsWith(":") ? word.slice(1) : word)
    .filter((word) => !hidden.includes(word.split("=")[0] ?? ""))
    .join(" ").replace(/^/, ":").replace(/ LS /, " LS :");
}

/** What tells a bridge which answer is to which line. */
export const ECHOES_ONLY = ["labeled-response"];
/** All that a bridge uses. */
export const NOTHING = [
  ...["labeled-response", "echo-message", "message-tags", "server-time", "batch", "msgid"],
];
