import { foldCase } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Channel, HeldMessage } from "./channel.ts";
import type { Channels } from "./channels.ts";
import { type LinkMessage, textOf, textOfPeer, textOfSent } from "./link_events.ts";
import { isLineOf, MessageIds } from "./protocol.ts";
import type { ChannelMessage, HeardAs, HeardMessage } from "./types.ts";
import type { Echo, Outbox } from "./outbox.ts";
import type { Playback } from "./playback.ts";
import type { LineOwner, SharedLines } from "./shared_lines.ts";
import type { LineKind, StoredLine } from "./stored_lines.ts";

export interface IntakeOptions {
  readonly channels: Pick<Channels, "get">;
  readonly outbox: Outbox;
  readonly playback: Playback;
  /** What several nodes hear; null without nodes. */
  readonly shared: SharedLines | null;
  /** Messages kept per channel. */
  readonly bufferSize: number;
  /** Called with each message of another user. Must not throw. */
  readonly onHeard?: ((message: HeardMessage) => void) | undefined;
  /** Called with each message of the bridge. Must not throw. */
  readonly onPosted?: ((channel: string, message: ChannelMessage) => void) | undefined;
  /** Called with the server's id of each redacted message. Must not throw. */
  readonly onRedacted?: ((id: string) => void) | undefined;
  /** Called with each new message of a channel, after it is in the log. Must not throw. */
  readonly onLogged: (channel: string, message: ChannelMessage, as: HeardAs) => void;
  readonly log: Log;
}

/** Adds messages from IRC to the logs of their channels, in order. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #ids = new MessageIds();
  #received = 0;
  #posted = 0;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** Messages added to a log. */
  get received(): number {
    return this.#received;
  }

  /** Messages of the bridge that IRC confirmed. */
  get posted(): number {
    return this.#posted;
  }

  /** Handles a message to a channel; one of the bridge's appears under the name it was sent for. */
  receive(heard: LinkMessage): void {
    const { channels, outbox, bufferSize, shared } = this.#options;
    if (shared !== null) return this.#share(heard, shared);
    const { label } = heard;
    const sent = label === null ? null : outbox.confirm(label);
    if (sent === null && heard.text === "") return;
    const found = channels.get(heard.channel);
    if (found !== null) {
      if (sent !== null) this.#posted++;
      this.#received++;
      const shown = sent === null ? textOf(heard) : textOfSent(sent, heard);
      const message = { id: this.#ids.of(heard), ...shown };
      const held = { message, heard, isOurs: sent !== null, isQuiet: sent?.isQuiet ?? false };
      if (found.held === null) this.#keep(found, held);
      else found.hold(held, bufferSize);
    }
    if (heard.id !== null) outbox.arrived(heard.id);
  }

  /** Removes a message from its channel's log. */
  redact(channel: string, redacted: string): void {
    const { channels, shared, onRedacted, log } = this.#options;
    onRedacted?.(redacted);
    const remove = () => channels.get(channel)?.log.remove(({ id }) => isLineOf(redacted, id));
    if (shared === null) return void remove();
    shared.redact(channel, redacted).catch((error: unknown) => {
      log.warn("A redacted message could not be removed from the database", { error });
    }).finally(remove);
  }

  /**
   * Reads back the messages of a channel from before the bridge joined or while it was away; new
   * messages follow them. If the server plays nothing back, the log continues as it is.
   */
  async recall(channel: Channel): Promise<void> {
    const { playback, bufferSize, shared, log: report } = this.#options;
    if (shared !== null) return await this.#fill(channel, shared);
    if (!playback.available) return;
    channel.held = [];
    const { name, log } = channel;
    await playback.fill(channel, bufferSize).catch((error: unknown) => {
      const message = "What was said in a channel could not be read back";
      report.warn(message, { channel: name, error });
    });
    const held = channel.held;
    channel.held = null;
    for (const one of held) {
      if (log.microsecondsOf(one.message.id) === null) this.#keep(channel, one);
    }
  }

  /** Adds a message to its channel's log. */
  #keep(channel: Channel, { message, heard, isOurs, isQuiet }: HeldMessage): void {
    const { onPosted, onHeard, onLogged } = this.#options;
    const logged = channel.log.append(message, heard.time);
    const { isNotice = false, isBot = false } = heard;
    onLogged(channel.name, logged, { isOurs, isQuiet, isNotice, isBot });
    if (isQuiet) return;
    if (isOurs) onPosted?.(channel.name, logged);
    else onHeard?.({ ...heard, id: message.id, channel: channel.name });
  }

  /** Adds a line that all nodes have to its channel's log. */
  deliver(channel: Channel, { message, microseconds, as }: StoredLine): void {
    const { onPosted, onHeard, onLogged } = this.#options;
    const logged = channel.log.appendAt(message, microseconds);
    this.#received++;
    if (as.isPast) return;
    onLogged(channel.name, logged, as);
    if (as.isQuiet) return;
    const time = Math.floor(microseconds / 1000);
    if (!as.isOurs) return onHeard?.({ ...message, channel: channel.name, time });
    channel.setPresent(message.nick, time);
    onPosted?.(channel.name, logged);
  }

  /** Adds an earlier one. */
  deliverPast(channel: Channel, { message, microseconds, as }: StoredLine): void {
    if (microseconds <= (channel.log.newest ?? 0)) return;
    channel.log.appendAt(message, microseconds);
    if (as.isOurs && !as.isQuiet) channel.setPresent(message.nick, microseconds / 1000);
  }

  /** Passes a message on to all nodes. A post is confirmed when it is in the log. */
  #share(heard: LinkMessage, shared: SharedLines): void {
    const { channels, outbox } = this.#options;
    const { label, channel } = heard;
    const echo = label === null ? null : outbox.echoed(label);
    if (echo === null && heard.text === "") return;
    if (channels.get(channel) === null) return echo?.confirm();
    if (echo !== null) this.#posted++;
    const stored = shared.hear(this.#lineOf(heard, echo), ownerOf(heard, echo));
    if (echo !== null) stored.then(echo.confirm, echo.refuse);
  }

  #lineOf(heard: LinkMessage, echo: Echo | null, isPast = false) {
    const given = this.#ids.given(heard);
    const shown = echo === null ? textOfPeer(heard) : textOfSent(echo.sent, heard);
    const { prefix = "", text = "" } = echo?.sent ?? {};
    const said = heard.text === "" ? prefix + text : heard.text;
    return {
      channel: foldCase(heard.channel),
      mark: given ?? `${foldCase(heard.nick)} ${said}`,
      time: heard.time,
      message: { id: given ?? this.#ids.of(heard), ...shown },
      as: kindOf(heard, echo, isPast),
    };
  }

  /**
   * Reads back what the nodes have of a channel, and what only the network has, because no bridge
   * was there.
   */
  async #fill(channel: Channel, shared: SharedLines): Promise<void> {
    const { playback, bufferSize, log: report } = this.#options;
    const { name, log } = channel;
    try {
      await shared.fill(channel);
      if (!playback.available) return;
      const heard = await playback.newest(name, bufferSize);
      for (const one of heard) {
        const isOld = one.time < Math.floor((log.newest ?? 0) / 1000);
        if (isOld || one.id === null || log.microsecondsOf(one.id) !== null) continue;
        void shared.hear(this.#lineOf(one, null, true), "other");
      }
      // Without other nodes, these are stored at once.
      await shared.refresh();
    } catch (error) {
      report.warn("What was said in a channel could not be read back", { channel: name, error });
    }
  }
}

/** Who should store a line: a bridge that said it may know best for whom. */
function ownerOf({ nick, peer, isClear }: LinkMessage, echo: Echo | null): LineOwner {
  if (echo === null) return peer === undefined || peer === "whole" ? "anybody" : "other";
  const { sent } = echo;
  return isClear && (sent.speaker !== null || sent.nick === nick) ? "shared" : "self";
}

function kindOf(heard: LinkMessage, echo: Echo | null, isPast: boolean): LineKind {
  const { peer, isQuiet = false, isNotice = false, isBot = false } = heard;
  const isProven = peer === "whole" || peer === "account";
  return {
    isOurs: echo !== null || isProven || heard.speaker !== null,
    isQuiet: echo?.sent.isQuiet ?? isQuiet,
    isNotice,
    isBot,
    isPast,
  };
}
