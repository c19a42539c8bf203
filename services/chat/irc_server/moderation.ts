import type { Database, NewEvent } from "../../engines/database/mod.ts";
import { newEvent, type Origin, SYSTEM } from "../../engines/events/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import type { IrcObserver, ObservedActor, ObservedRedaction } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

/** Events of one actor that are written in a minute; more are counted. */
const MAX_PER_MINUTE = 60;

const MINUTE = 60_000;

interface IrcModerationOptions {
  readonly database: Pick<Database, "commit">;
  readonly accounts: Pick<AccountDirectory, "find">;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** What is written. */
type Moderation =
  | "operatorGranted"
  | "killed"
  | "kicked"
  | "modeChanged"
  | "hostChanged"
  | "channelRenamed"
  | "topicChanged"
  | "messageRedacted";

/**
 * Writes into the event log what people and agents do to one another on the IRC server: kicks,
 * bans, other modes, names and topics of channels, whose messages were taken away, who became an
 * operator, and whom an operator ended or gave another host. The reason of a kick and a topic are
 * texts of their users, and are left out. Nobody can fill the log: beyond a bound an actor's doings
 * are counted, and the count is written.
 */
export class IrcModeration implements Required<Pick<IrcObserver, Moderation>> {
  readonly #options: IrcModerationOptions;
  /** The number of actions of each actor in this minute; an actor is an account or an address. */
  readonly #counts = new Map<string, { count: number; readonly origin: Origin }>();
  #cancel: () => void = () => {};

  constructor(options: IrcModerationOptions) {
    this.#options = options;
  }

  operatorGranted({ actor, operator }: { actor: ObservedActor; operator: string }): void {
    this.#note(
      actor,
      (origin, now) =>
        newEvent("irc.operator_granted", { nick: actor.nick, operator }, origin, now),
    );
  }

  killed(
    { actor, target, reason }: { actor: ObservedActor; target: ObservedActor; reason: string },
  ): void {
    const { nick, account } = target;
    this.#note(
      actor,
      (origin, now) => newEvent("irc.killed", { nick, account, reason }, origin, now),
    );
  }

  kicked({ actor, channel, nick }: { actor: ObservedActor; channel: string; nick: string }): void {
    this.#note(actor, (origin, now) => newEvent("irc.kicked", { channel, nick }, origin, now));
  }

  modeChanged(event: { actor: ObservedActor; channel: string; changes: string }): void {
    const { actor, channel, changes } = event;
    this.#note(
      actor,
      (origin, now) => newEvent("irc.modes_changed", { channel, changes }, origin, now),
    );
  }

  hostChanged(event: { actor: ObservedActor; target: ObservedActor; host: string }): void {
    const { actor, target: { nick }, host } = event;
    this.#note(actor, (origin, now) => newEvent("irc.host_changed", { nick, host }, origin, now));
  }

  channelRenamed(event: { actor: ObservedActor; channel: string; to: string }): void {
    const { actor, channel, to } = event;
    this.#note(
      actor,
      (origin, now) => newEvent("irc.channel_renamed", { channel, to }, origin, now),
    );
  }

  /** Who takes its own message back moderates nobody. */
  messageRedacted({ actor, channel, author: nick, own }: ObservedRedaction): void {
    if (own || channel === null) return;
    this.#note(
      actor,
      (origin, now) => newEvent("irc.message_redacted", { channel, nick }, origin, now),
    );
  }

  topicChanged({ actor, channel }: { actor: ObservedActor; channel: string }): void {
    this.#note(actor, (origin, now) => newEvent("irc.topic_changed", { channel }, origin, now));
  }

  /** Writes what was counted. */
  async close(): Promise<void> {
    this.#cancel();
    await this.#flush();
  }

  #note(actor: ObservedActor, make: (origin: Origin, now: number) => NewEvent): void {
    const origin = ircOriginOf(this.#options.accounts, actor);
    const key = origin.actorId ?? origin.address ?? origin.actor;
    const counted = this.#counts.get(key) ?? { count: 0, origin };
    counted.count += 1;
    if (this.#counts.size === 0) {
      this.#cancel = this.#options.scheduler.after(MINUTE, () => this.#flush());
    }
    this.#counts.set(key, counted);
    if (counted.count <= MAX_PER_MINUTE) this.#write([make(origin, this.#options.scheduler.now())]);
  }

  #flush(): Promise<void> {
    const now = this.#options.scheduler.now();
    const events = Array.from(this.#counts.values())
      .filter(({ count }) => count > MAX_PER_MINUTE)
      .map(({ count, origin }) =>
        newEvent("irc.moderation_omitted", { count: count - MAX_PER_MINUTE }, origin, now)
      );
    this.#counts.clear();
    return this.#write(events);
  }

  async #write(events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    try {
      await this.#options.database.commit({ events });
    } catch (error) {
      this.#options.log.warn("Events on IRC could not be logged", { error });
    }
  }
}

/**
 * The actor of a change on the IRC server, as the event log names it: the account, or without one the
 * name given to OPER.
 */
export function ircOriginOf(
  accounts: Pick<AccountDirectory, "find">,
  { nick, account, address, operator }: ObservedActor,
): Origin {
  const name = account ?? operator;
  if (name === undefined) return { ...SYSTEM, actor: `guest:${nick}`, address };
  const found = accounts.find(name);
  if (account === null && found?.kind !== "admin") {
    return { ...SYSTEM, actor: `irc:${name}`, address };
  }
  if (found === null) return { ...SYSTEM, actor: `irc:${name}` };
  return { actor: `${found.kind}:${found.name}`, actorId: found.id, address, cause: null };
}
