import type { Bridge, HeardMessage, LineStore } from "../../chat/bridge/mod.ts";
import type { NetworkNodes } from "../../chat/irc_network/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { HaltCommands } from "../control/mod.ts";
import type { QuestionCommands } from "../../oversight/questions/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

/** How much longer each further node leaves a command to those before it, in milliseconds. */
const TURN_MILLISECONDS = 500;

/** How much longer a node does so that cannot answer on IRC, in milliseconds. */
const SILENT_MILLISECONDS = 3000;

/** What several nodes share, of which each hears every command. */
export interface CommandSharing {
  readonly nodes: Pick<NetworkNodes, "self" | "running" | "isLeading">;
  readonly lines: Pick<LineStore, "take">;
}

export interface NetworkCommandsOptions {
  readonly haltCommands: Pick<HaltCommands, "isCommand" | "take">;
  readonly questionCommands: Pick<QuestionCommands, "isCommand" | "take">;
  /** Null for a server that is alone. */
  readonly sharing: CommandSharing | null;
  readonly scheduler: Pick<Scheduler, "after">;
  readonly log: Log;
}

/**
 * Commands in the channels of a network that muster does not run. The nodes take each of them once:
 * the one that leads at once; if none does, another one a moment later, which then also takes those
 * that follow.
 */
export class NetworkCommands {
  readonly #options: NetworkCommandsOptions;
  #bridge: Pick<Bridge, "ready"> | null = null;
  #taking: Promise<void> = Promise.resolve();

  constructor(options: NetworkCommandsOptions) {
    this.#options = options;
  }

  /** Sets the bridge that answers. */
  attach(bridge: Pick<Bridge, "ready"> | null): void {
    this.#bridge = bridge;
  }

  /** Handles a message; ignores what is no command. */
  take(message: HeardMessage): void {
    const { haltCommands, questionCommands, sharing, scheduler } = this.#options;
    const isCommand = haltCommands.isCommand(message) ||
      questionCommands.isCommand({ ...message, answered: message.reply ?? null });
    if (!isCommand) return;
    if (sharing === null) return this.#run(message);
    const pause = this.#pauseOf(sharing);
    if (pause === 0) this.#takeOnce(sharing, message);
    else scheduler.after(pause, () => this.#takeOnce(sharing, message));
  }

  /** Resolves when every command is taken that this node does not leave to others; for tests. */
  idle(): Promise<void> {
    return this.#taking;
  }

  #pauseOf({ nodes: { self, running, isLeading } }: CommandSharing): number {
    const silence = this.#bridge?.ready === true ? 0 : SILENT_MILLISECONDS;
    if (isLeading()) return silence;
    const before = [...running()].filter((name) => name < self).length;
    return (1 + before) * TURN_MILLISECONDS + silence;
  }

  #takeOnce(sharing: CommandSharing, message: HeardMessage): void {
    this.#taking = this.#taking.then(async () => {
      if (await this.#isOurs(sharing, message)) this.#run(message);
    });
  }

  /** Whether this node is the first to take a command. */
  async #isOurs({ lines }: CommandSharing, { channel, id }: HeardMessage): Promise<boolean> {
    try {
      return await lines.take(channel, id);
    } catch (error) {
      // Taken twice, a command does no harm; a halt that nobody takes would.
      this.#options.log.warn("Another node may take the same command from IRC", { error });
      return true;
    }
  }

  #run(message: HeardMessage): void {
    const { haltCommands, questionCommands } = this.#options;
    haltCommands.take(message);
    questionCommands.take({ ...message, answered: message.reply ?? null });
  }
}
