import type { Bridge } from "../../chat/bridge/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import type { IrcServer } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Leadership } from "../../cluster/nodes/mod.ts";
import type { Announcer, ProjectChannels } from "../../oversight/notifications/mod.ts";
import type { Projects } from "../../work/projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import {
  announcementOf,
  endingOf,
  type Question,
  type QuestionCommands,
  type Questions,
} from "../../oversight/questions/mod.ts";

/** How long a node remembers what the leader has to tell: longer than the next one takes to lead. */
const KEPT_MILLISECONDS = 30_000;

export interface QuestionNoticesOptions {
  readonly questions: Questions;
  readonly commands: QuestionCommands;
  readonly accounts: Pick<AccountDirectory, "find">;
  readonly projects: Pick<Projects, "get">;
  readonly projectChannels: Pick<ProjectChannels, "nameOf">;
  readonly announcer: Pick<Announcer, "announce">;
  /** Null on an external network. */
  readonly bridgeNick: string;
  readonly server: Pick<IrcServer, "notify" | "clients"> | null;
  readonly bridge: Pick<Bridge, "tell" | "listen"> | null;
  /** Of several nodes, the one that leads tells people. */
  readonly leadership: Pick<Leadership, "isLeading">;
  readonly scheduler: Pick<Scheduler, "now">;
  readonly log: Log;
}

/** What the node that leads has to tell. */
interface Untold {
  readonly question: Question;
  readonly text: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/**
 * Tells people on IRC of questions and of their ends: the one who was asked, else the channel of the
 * ticket's project, else the admins. What is for one account goes only to clients that this server
 * has logged in to it.
 */
export class QuestionNotices {
  readonly #options: QuestionNoticesOptions;
  readonly #ends: readonly (() => void)[];
  /** What this node left to the one that leads, and did not hear from it. */
  #untold: readonly Untold[] = [];

  constructor(options: QuestionNoticesOptions) {
    const { questions, commands, bridge } = options;
    this.#options = options;
    commands.attach(questions, ({ nick }, text) => this.#reply(nick, text));
    const stopListening = bridge?.listen({
      message: (_channel, { id, text }, { isOurs, isQuiet }) => {
        if (!isOurs || !isQuiet) return;
        commands.announced(id, text);
        // A long line comes in pieces.
        this.#untold = this.#untold.filter((untold) => !untold.text.startsWith(text));
      },
      activity() {},
    });
    this.#ends = [
      questions.onChanged((question) => this.#tell(question)),
      ...stopListening === undefined ? [] : [stopListening],
    ];
  }

  close(): void {
    for (const end of this.#ends) end();
  }

  /** Tells what an earlier leader may not have told. Call this when this node begins to lead. */
  takeOver(): void {
    const untold = this.#fresh().filter(({ question: { id, state } }, index, all) =>
      state !== "open" || !all.slice(index + 1).some(({ question }) => question.id === id)
    );
    this.#untold = [];
    for (const { question, text } of untold) this.#announce(question, text);
  }

  #tell(question: Question): void {
    const { leadership, scheduler } = this.#options;
    const text = question.state === "open" ? announcementOf(question) : endingOf(question);
    if (leadership.isLeading) return this.#announce(question, text);
    this.#untold = [...this.#fresh(), { question, text, at: scheduler.now() }];
  }

  #fresh(): readonly Untold[] {
    const oldest = this.#options.scheduler.now() - KEPT_MILLISECONDS;
    return this.#untold.filter(({ at }) => at >= oldest);
  }

  #announce(question: Question, text: string): void {
    const line = { kind: question.state === "open" ? "question" : "question end", text };
    const places = this.#placesOf(question);
    // Those who answer on IRC get a reply there.
    const own = question.via === "irc" ? this.#nicksOf(question.closedBy?.name) : [];
    for (const place of places) {
      if (!own.includes(place)) this.#options.announcer.announce(place, line);
    }
  }

  /** The channels and nicks that learn of a question. */
  #placesOf({ to, ticket }: Question): readonly string[] {
    if (to !== null) return this.#nicksOf(to.name);
    const { projects, projectChannels } = this.#options;
    const held = ticket === null ? null : projects.get(ticket.projectId);
    const channel = held === null ? null : projectChannels.nameOf(held.project);
    return channel === null ? this.#nicksOfAdmins() : [channel];
  }

  #nicksOf(account: string | undefined): readonly string[] {
    return this.#options.server?.clients().flatMap((client) =>
      client.nick !== null && account !== undefined && client.account === account
        ? [client.nick]
        : []
    ) ?? [];
  }

  #nicksOfAdmins(): readonly string[] {
    const { server, accounts } = this.#options;
    return server?.clients().flatMap(({ nick, account }) => {
      const found = nick === null || account === null ? null : accounts.find(account);
      return nick !== null && found?.kind === "admin" ? [nick] : [];
    }) ?? [];
  }

  #reply(nick: string, text: string): void {
    const { server, bridge, log } = this.#options;
    if (server !== null) return server.notify(nick, text, this.#options.bridgeNick);
    const line = { speaker: null, account: null, lines: [text], isEnvelope: false };
    bridge?.tell(nick, { ...line, isNotice: true }).catch((error: unknown) => {
      log.warn("Somebody on IRC could not be told of a question", { nick, error });
    });
  }
}
