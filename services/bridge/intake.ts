import type { Log } from "../log.ts";
import type { Channel, HeldMessage } from "./channel.ts";
import type { Channels } from "./channels.ts";
import type { LinkMessage } from "./link_events.ts";
import { isLineOf, MessageIds } from "./message_ids.ts";
import type { ChannelMessage, HeardAs, HeardMessage } from "./options.ts";
import type { Outbox } from "./outbox.ts";
import type { Playback } from "./playback.ts";
import { textOf, textOfSent } from "./shown.ts";

export interface IntakeOptions {
  readonly channels: Pick<Channels, "get">;
  readonly outbox: Outbox;
  readonly playback: Playback;
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
    const { channels, outbox, bufferSize } = this.#options;
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
    const { channels, onRedacted } = this.#options;
    onRedacted?.(redacted);
    channels.get(channel)?.log.remove(({ id }) => isLineOf(redacted, id));
  }

  /**
   * Reads back the messages of a channel from before the bridge joined or while it was away; new
   * messages follow them. If the server plays nothing back, the log continues as it is.
   */
  async recall(channel: Channel): Promise<void> {
    const { playback, bufferSize, log: report } = this.#options;
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
}
