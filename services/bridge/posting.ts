import { Conflict, NotFound, Unavailable } from "../errors.ts";
import type { Caller, Principal } from "../identity/mod.ts";
import { foldCase, isNick } from "../irc/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import type { ChannelEntry } from "./channel_entry.ts";
import { compose, type Composition, cut } from "./composition.ts";
import type { Link } from "./link.ts";
import type { LinkRefusal } from "./link_events.ts";
import type { NewPost, Speaker, Speakers } from "./options.ts";
import type { Outbox } from "./outbox.ts";
import { byteLength } from "./text.ts";

/** The number of the reply that tells that nobody has a nick. */
const NO_SUCH_NICK = "401";

export interface PostingOptions {
  /** The bridge's nick, as it is configured. */
  readonly nick: string;
  readonly link: Link;
  readonly outbox: Outbox;
  readonly entry: ChannelEntry;
  /** Absent: the bridge speaks for everybody, as much as they like. */
  readonly speakers?: Speakers | undefined;
  readonly scheduler: Scheduler;
}

/** Says what callers want to say, as they are or in their place, and sees that IRC has it. */
export class Posting {
  readonly #options: PostingOptions;

  constructor(options: PostingOptions) {
    this.#options = options;
  }

  /** As `Bridge.post`, in the channel with this name. */
  async post(name: string, post: NewPost, caller: Caller): Promise<void> {
    const { nick, link, entry, speakers, scheduler } = this.#options;
    const composed = compose(post, caller.principal);
    speakers?.requireVoice(caller.principal);
    this.#assertChannel(name);
    const entered = await entry.enter(name, caller);
    if (!link.up) throw new Unavailable("The IRC connection was lost");
    const user = speakers?.speaker(caller.principal) ?? null;
    if (user === null) {
      await this.say(entered.name, composed, caller.principal);
      return entered.setPresent(composed.speaker ?? nick, scheduler.now());
    }
    const pieces = cut(composed, user.room(entered.name));
    speakers?.admit(caller.principal, pieces.length);
    await this.#sayAs(user, entered.name, pieces);
    await user.settled();
  }

  /**
   * Says something to a channel or a nick in the place of its speaker. Resolves when IRC has it.
   *
   * @param payer whose rate it is taken from; null for nobody's
   * @throws TooLarge for an envelope, NotFound where nobody has the nick, Conflict where IRC refuses
   * it, TimedOut where IRC did not confirm it, and what the rate's limit throws
   */
  async say(target: string, post: Composition, payer: Principal | null): Promise<void> {
    const { nick, link, outbox, speakers } = this.#options;
    const speaker = post.speaker ?? nick;
    const isOwn = foldCase(speaker) === foldCase(nick);
    const saidFor = isOwn ? null : { nick: speaker, account: post.account };
    const prefix = post.isEnvelope || isOwn ? "" : `[${speaker}] `;
    const pieces = cut(post, link.room(target) - byteLength(prefix));
    const delay = link.admit(pieces.length);
    if (payer !== null) speakers?.admit(payer, pieces.length);
    const { labels, confirmed } = outbox.add(
      pieces.map((text) => ({ nick: speaker, text, speaker: saidFor })),
      delay,
    );
    link.say(target, pieces.map((piece) => `${prefix}${piece}`), labels, saidFor);
    await confirmed;
  }

  /** Takes in that the server would not take the message with this label. */
  refuse(label: string, refusal: LinkRefusal): void {
    this.#options.outbox.refuse(label, refusalError(refusal));
  }

  /** Has a user say something; over when the bridge has heard it. */
  async #sayAs(user: Speaker, channel: string, texts: readonly string[]): Promise<void> {
    const last = user.say(channel, texts).at(-1);
    if (last !== undefined) await this.#options.outbox.arrival(last);
  }

  /** @throws Conflict where the name is an agent's, and no channel has it */
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

/** Why the server would not take a message. */
function refusalError({ code, channel: target, reason }: LinkRefusal): Error {
  if (code === NO_SUCH_NICK && isNick(target)) {
    return new NotFound(`Nobody on IRC has the nick "${target}"`);
  }
  return new Conflict(`IRC refused the message: ${reason}`);
}
