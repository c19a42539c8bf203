import type { Log } from "../log.ts";
import type { Channel, HeldMessage } from "./channel.ts";
import type { Channels } from "./channels.ts";
import type { LinkMessage } from "./link_events.ts";
import { isLineOf, MessageIds } from "./message_ids.ts";
import type { ChannelMessage, HeardMessage } from "./options.ts";
import type { Outbox } from "./outbox.ts";
import type { Playback } from "./playback.ts";
import { textOf, textOfSent } from "./shown.ts";

export interface IntakeOptions {
  readonly channels: Pick<Channels, "get">;
  readonly outbox: Outbox;
  readonly playback: Playback;
  /** Messages kept per channel. */
  readonly bufferSize: number;
  /** Told of each message of somebody else. Must not throw. */
  readonly onHeard?: ((message: HeardMessage) => void) | undefined;
  /** Told of each message that the bridge said. Must not throw. */
  readonly onPosted?: ((channel: string, message: ChannelMessage) => void) | undefined;
  /** Told the server's id of each message that was redacted. Must not throw. */
  readonly onRedacted?: ((id: string) => void) | undefined;
  readonly log: Log;
}

/** Takes what IRC sends into the logs of its channels, in order. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #ids = new MessageIds();
  #received = 0;
  #posted = 0;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** Messages that were taken into a log. */
  get received(): number {
    return this.#received;
  }

  /** Messages that IRC confirmed to have taken from us. */
  get posted(): number {
    return this.#posted;
  }

  /** Takes a message in for its channel: one of ours under the name that it was sent for. */
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
      const held = { message, heard, isOurs: sent !== null };
      if (found.held === null) this.#keep(found, held);
      else found.hold(held, bufferSize);
    }
    if (heard.id !== null) outbox.arrived(heard.id);
  }

  /** Takes a message out of its channel's log. */
  redact(channel: string, redacted: string): void {
    const { channels, onRedacted } = this.#options;
    onRedacted?.(redacted);
    channels.get(channel)?.log.remove(({ id }) => isLineOf(redacted, id));
  }

  /**
   * Reads back what was said in a channel before the bridge came, or while it was away; what is said
   * meanwhile follows. Where the server plays nothing back, the log goes on where it is.
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

  /** Takes a message into its channel's log. */
  #keep(channel: Channel, { message, heard, isOurs }: HeldMessage): void {
    const { onPosted, onHeard } = this.#options;
    const logged = channel.log.append(message, heard.time);
    if (isOurs) onPosted?.(channel.name, logged);
    else onHeard?.({ ...heard, id: message.id, channel: channel.name });
  }
}
