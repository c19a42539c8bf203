import type { HaltChange, Halts, Roster, RosterEntry } from "../../people/agents/mod.ts";
import type { Bridge } from "../../chat/bridge/mod.ts";
import type { InboxDoor } from "../../chat/inboxes/mod.ts";
import type { IrcServer } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { CommandReply, HaltCommands } from "../control/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { newUlid } from "../../kernel/ulid.ts";

/** Inboxes that get the notice in one turn of the event loop. */
const AT_ONCE = 200;

export interface HaltNoticesOptions {
  readonly halts: Halts;
  readonly commands: HaltCommands;
  readonly roster: Pick<Roster, "everybody">;
  readonly inboxes: Pick<InboxDoor, "notify">;
  /** Null on an external network. */
  readonly server: Pick<IrcServer, "announce" | "notify"> | null;
  readonly bridge: Pick<Bridge, "announce"> | null;
  readonly bridgeNick: string;
  /** The channels that get the notice on an external network. */
  readonly channels: readonly string[];
  readonly scheduler: Pick<Scheduler, "now">;
  readonly log: Log;
}

/**
 * Tells everybody of a halt and of its end: a notice of the IRC server, or lines of the bridge on an
 * external network, and an entry in the inbox of each agent that it is about.
 */
export class HaltNotices {
  readonly #options: HaltNoticesOptions;
  readonly #stopListening: () => void;
  #telling: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: HaltNoticesOptions) {
    this.#options = options;
    this.#stopListening = options.halts.onChanged((change) => {
      if (change !== null) this.#tell(change);
    });
    options.commands.attach(this.#reply);
  }

  /** Resolves when every notice is sent; for tests. */
  idle(): Promise<void> {
    return this.#telling;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopListening();
    await this.#telling;
  }

  #tell(change: HaltChange): void {
    const text = sentenceOf(change);
    const { server, log } = this.#options;
    server?.announce(text);
    if (server === null) { for (const channel of this.#options.channels) this.#say(channel, text); }
    this.#telling = this.#telling.then(() => this.#tellAgents(change, text)).catch((error) => {
      log.warn("The notice of a halt is missing from inboxes", { error });
    });
  }

  async #tellAgents(change: HaltChange, text: string): Promise<void> {
    const { roster, inboxes, halts, scheduler } = this.#options;
    const time = scheduler.now();
    const id = newUlid(time);
    const isAbout = (agent: RosterEntry) => {
      const isHalted = halts.reasonOf(agent) !== null;
      return change.kind === "halted"
        ? isHalted && covers(change, agent)
        : !isHalted && change.wasHalted(agent);
    };
    const agents = [...roster.everybody()].filter(isAbout);
    for (let at = 0; at < agents.length && !this.#isClosed; at += AT_ONCE) {
      const entries = agents.slice(at, at + AT_ONCE).map((agent) => ({
        agent,
        time,
        entry: { id, kind: "halt" as const, from: change.by, account: null, text },
      }));
      await inboxes.notify(entries);
    }
  }

  readonly #reply: CommandReply = ({ nick, channel }, text) => {
    const { server } = this.#options;
    if (server !== null) server.notify(nick, text, this.#options.bridgeNick);
    else if (channel !== null) this.#say(channel, `${nick}: ${text}`);
  };

  #say(channel: string, text: string): void {
    const { bridge, log } = this.#options;
    bridge?.announce(channel, text).catch((error: unknown) => {
      log.warn("The notice of a halt could not be sent to IRC", { channel, error });
    });
  }
}

function covers({ target: { types, agents } }: HaltChange, agent: RosterEntry): boolean {
  if (types.length === 0 && agents.length === 0) return true;
  return types.some((type) => type === agent.type) ||
    agents.some(({ agentId }) => agentId === agent.agentId);
}

function sentenceOf({ kind, subject, reason, by }: HaltChange): string {
  const what = kind === "halted" ? "Halted" : "Resumed";
  return `${what} by ${by}: ${subject}${reason === null ? "" : `. Reason: ${reason}`}`;
}
