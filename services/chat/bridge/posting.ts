import {
  Conflict,
  Invalid,
  NotFound,
  type ServiceError,
  Unauthorized,
  Unavailable,
} from "../../kernel/errors.ts";
import type { Caller, Identity, Principal } from "../../people/identity/mod.ts";
import { foldCase, isNick } from "../../engines/irc/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import {
  byteLength,
  compose,
  type Composition,
  cut,
  linesOf,
  pieces as piecesOf,
  splitLine,
} from "./composition.ts";
import type { ChannelEntry } from "./entry.ts";
import type { Link } from "./link.ts";
import type { LinkRefusal } from "./link_events.ts";
import type { Outbox } from "./outbox.ts";
import type { Mentions, NewPost, Speaker, Speakers } from "./types.ts";

/** ERR_NOSUCHNICK: nobody has the nick. */
const NO_SUCH_NICK = "401";

/** The code of a FAIL that another attempt may not meet (IRCv3 standard-replies). */
const UNAVAILABLE = "TEMPORARILY_UNAVAILABLE";

/** How many posts of one caller may wait for the history; one more is refused. */
const MAX_LATE = 32;

/** How long an answer waits for the disk, in milliseconds. */
const LATE_MILLISECONDS = 10_000;

interface PostingOptions {
  /** The bridge's configured nick. */
  readonly nick: string;
  readonly link: Link;
  readonly outbox: Outbox;
  readonly entry: ChannelEntry;
  /** If absent, the bridge speaks for all callers, without limits. */
  readonly speakers?: Speakers | undefined;
  readonly authorization: ChannelAuthorization;
  /** As in `MessageArchive`; always null if nothing is stored here. */
  readonly room: () => Promise<void> | null;
  /** As in `BridgeOptions`. */
  readonly mentions?: Mentions | undefined;
  readonly scheduler: Scheduler;
}

/** What a line of the program has beside its text. */
export interface LineMarks {
  /** The nick and account of a bot of the program that says it; then the line begins with that nick. */
  readonly bot?: string | undefined;
  /** Its id, which no other message has; a new one, if absent, and on an external network. */
  readonly id?: string | undefined;
}

/** Whose post it is. */
interface Poster {
  /** Whose credential it needs until it is sent; null for the program's own. */
  readonly principal: Principal | null;
  /** Its permit, from before anything was waited for. */
  readonly permit: PostPermit;
  /** Whether it counts against the principal's rate; by default, it counts against nobody's. */
  readonly pays?: boolean;
}

/** Posts for callers, as their own user or in their place, and waits for IRC's confirmation. */
export class Posting {
  readonly #options: PostingOptions;
  /** How many posts of a caller wait for the history. */
  readonly #late = new Map<string, number>();

  constructor(options: PostingOptions) {
    this.#options = options;
  }

  /** As `Bridge.post`, in the channel with this name. */
  async post(name: string, post: NewPost, caller: Caller): Promise<void> {
    const { nick, entry, authorization, speakers, scheduler, mentions } = this.#options;
    const { principal } = caller;
    const permit = authorization.of(principal);
    this.#requireTurn(principal);
    try {
      const composed = compose(post, principal);
      speakers?.requireVoice(principal);
      if (composed.speaker !== null) speakers?.requireGoing(composed.speaker);
      this.#assertChannel(name);
      const entered = await entry.enter(name, caller);
      this.#assertMayGo(permit);
      const user = speakers?.speaker(principal) ?? null;
      const arrived = mentions?.arrived;
      if (user !== null) {
        await this.#postAs(user, entered.name, composed, principal);
      } else {
        await this.say(entered.name, composed, { principal, permit, pays: true });
        entered.setPresent(composed.speaker ?? nick, scheduler.now());
      }
      if (mentions?.arrived !== arrived) await this.#inTime(mentions?.settled());
      await this.#waitForRoom(principal);
    } finally {
      permit.end();
    }
  }

  /** As `Bridge.setTopic`, in the channel with this name. */
  async setTopic(name: string, text: string, caller: Caller): Promise<void> {
    const { entry, speakers } = this.#options;
    const [topic = "", ...more] = text.trim() === "" ? [] : linesOf(text);
    if (more.length > 0) throw new Invalid("A topic is one line");
    speakers?.requireVoice(caller.principal);
    await entry.enter(name, caller);
    const user = speakers?.speaker(caller.principal) ?? null;
    if (user === null) throw new Conflict("Change the topic with an IRC client of the network");
    await user.setTopic(name, topic);
    await user.settled();
  }

  /**
   * Sends a post to a channel or a nick in the place of its speaker.
   *
   * @returns resolves when IRC has it; rejects with NotFound if nobody has the nick, Conflict if IRC
   * refuses it, TimedOut if IRC does not confirm it, and Unauthorized if the credential ends before
   * it is sent
   * @throws TooLarge for an envelope, and what the rate's limit throws
   */
  say(
    target: string,
    post: Composition,
    { principal, permit, pays = false }: Poster,
  ): Promise<void> {
    const { nick, link, outbox, speakers } = this.#options;
    const speaker = post.speaker ?? nick;
    const isOwn = foldCase(speaker) === foldCase(nick);
    const { account, answered } = post;
    const saidFor = isOwn ? null : { nick: speaker, account, answered };
    const beginning = post.isAction ? `* ${speaker} ` : "";
    const prefix = post.isEnvelope || post.isAction || isOwn ? "" : `[${speaker}] `;
    const room = link.room(target) - byteLength(prefix) - byteLength(beginning);
    const pieces = piecesOf(post, room).map((piece) => beginning + piece);
    const delay = link.admit(pieces.length);
    if (principal !== null && pays) speakers?.admit(principal, pieces.length);
    const { labels, confirmed } = outbox.add(
      pieces.map((text) => ({ nick: speaker, text, speaker: saidFor, prefix })),
      delay,
    );
    link.say(target, pieces.map((piece) => `${prefix}${piece}`), labels, {
      speaker: saidFor,
      isNotice: post.isNotice,
      mayGo: this.#mayGo(permit),
    });
    return confirmed;
  }

  /**
   * Says one line as the bridge itself or a bot of the program, which is in no agent's inbox.
   * Resolves when IRC has it, even if the line cannot be stored yet.
   *
   * @throws Conflict if IRC refuses it, TimedOut if IRC does not confirm it, Unavailable
   */
  async announce(channel: string, text: string, { bot, id }: LineMarks = {}): Promise<void> {
    const { nick, link, outbox, entry } = this.#options;
    const { name } = await entry.enter(channel, undefined);
    const speaker = bot === undefined ? null : { nick: bot, account: bot };
    const prefix = speaker === null ? "" : `[${speaker.nick}] `;
    const [piece = ""] = splitLine(text, Math.max(link.room(name) - byteLength(prefix), 1));
    const sent = { nick: bot ?? nick, text: piece, speaker, isQuiet: true, prefix };
    const { labels, echoed } = outbox.add([sent], link.admit(1));
    const mayGo = this.#mayGo(this.#options.authorization.of(null));
    link.say(name, [prefix + piece], labels, { speaker, isQuiet: true, id, mayGo });
    await echoed;
  }

  /** Handles the refusal of the message with this label. */
  refuse(label: string, refusal: LinkRefusal): void {
    this.#options.outbox.refuse(label, refusalError(refusal));
  }

  /** @throws Unavailable if too many posts of the caller wait for the history */
  #requireTurn(principal: Principal): void {
    if ((this.#late.get(keyOf(principal)) ?? 0) < MAX_LATE) return;
    throw new Unavailable("More is said than can be stored: send it again in a moment", {
      retryAfterSeconds: 1,
    });
  }

  /** Answers a post later while more is said than the history can write. */
  async #waitForRoom(principal: Principal): Promise<void> {
    const room = this.#options.room();
    if (room === null) return;
    const key = keyOf(principal);
    this.#late.set(key, (this.#late.get(key) ?? 0) + 1);
    await this.#inTime(room);
    const left = (this.#late.get(key) ?? 1) - 1;
    if (left > 0) this.#late.set(key, left);
    else this.#late.delete(key);
  }

  /** Waits for the disk, not for long. */
  async #inTime(stored: Promise<void> | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#options.scheduler.after(LATE_MILLISECONDS, resolve);
    await Promise.race([stored, promise]);
    cancel();
  }

  /** Lets lines go while a permit holds; refuses their post else. */
  #mayGo(permit: PostPermit): (label: string) => boolean {
    return (label) => {
      const refusal = permit.refusal();
      if (refusal !== null) this.#options.outbox.refuse(label, refusal);
      return refusal === null;
    };
  }

  #assertMayGo(permit: PostPermit): void {
    const refusal = permit.refusal();
    if (refusal !== null) throw refusal;
    if (!this.#options.link.up) throw new Unavailable("The IRC connection was lost");
  }

  /** Posts as a user; resolves when that is done. */
  async #postAs(
    user: Speaker,
    channel: string,
    post: Composition,
    principal: Principal,
  ): Promise<void> {
    const pieces = cut(post, user.room(channel));
    this.#options.speakers?.admit(principal, pieces.length);
    await this.#sayAs(user, channel, pieces, post.answered);
    await user.settled();
  }

  /** Sends a post as a user; resolves when the bridge has received it. */
  async #sayAs(
    user: Speaker,
    channel: string,
    texts: readonly string[],
    answered: string | undefined,
  ): Promise<void> {
    const last = user.say(channel, texts, answered).at(-1);
    if (last !== undefined) await this.#options.outbox.arrival(last);
  }

  /** @throws Conflict if the name belongs to an agent and no such channel exists */
  #assertChannel(name: string): void {
    const { entry, speakers } = this.#options;
    const nick = name.slice(1);
    if (entry.exists(name) || !speakers?.isAgent(nick)) return;
    throw new Conflict(
      `"${nick}" is an agent, and nobody is in ${name}: POST /v1/agents/${nick}/messages ` +
        "sends to the agent alone",
    );
  }
}

/** The caller among those whose posts wait. */
function keyOf({ kind, id }: Principal): string {
  return `${kind} ${id ?? ""}`;
}

/** The error for a refused message. */
function refusalError({ code, channel: target, reason }: LinkRefusal): Error {
  if (code === NO_SUCH_NICK && isNick(target)) {
    return new NotFound(`Nobody on IRC has the nick "${target}"`);
  }
  const text = `IRC refused the message: ${reason}`;
  return code === UNAVAILABLE ? new Unavailable(text) : new Conflict(text);
}

/** Tells when credentials have ended. */
export interface Credentials extends Pick<Identity, "onEnded"> {
  /** Whether this node knows what others have ended; if not, nobody may speak. */
  readonly isCurrent: () => boolean;
}

/** The right to send the lines of one post, which may end while they wait for their turn. */
interface PostPermit {
  /** Why a line may not be sent any more, or null. Ask right before it is sent. */
  refusal(): ServiceError | null;
  /** Call this when its lines are sent, or refused. */
  end(): void;
}

/** The permits of posts whose lines wait for their turn. */
export class ChannelAuthorization {
  readonly #credentials: Credentials | null;
  /** By the permit: whose credential has ended. */
  readonly #held = new Set<{ readonly principal: Principal; hasEnded: boolean }>();
  readonly #unsubscribe: () => void;

  /** @param credentials null if none can end */
  constructor(credentials: Credentials | null) {
    this.#credentials = credentials;
    this.#unsubscribe = credentials?.onEnded((ended) => {
      for (const held of this.#held) held.hasEnded ||= ended.covers(held.principal);
    }) ?? (() => {});
  }

  /**
   * A permit for a post.
   *
   * @param principal whose credential it needs; null for the program's own
   */
  of(principal: Principal | null): PostPermit {
    const held = principal === null ? null : { principal, hasEnded: false };
    if (held !== null) this.#held.add(held);
    return {
      refusal: () => {
        if (held?.hasEnded) return new Unauthorized("The credential has ended");
        return this.#credentials?.isCurrent() ?? true ? null : outdated();
      },
      end: () => {
        if (held !== null) this.#held.delete(held);
      },
    };
  }

  close(): void {
    this.#unsubscribe();
  }
}

function outdated(): Unavailable {
  return new Unavailable("This node has lost touch with the database; try again", {
    retryAfterSeconds: 2,
  });
}
