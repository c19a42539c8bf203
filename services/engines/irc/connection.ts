import { TokenBucket } from "../../kernel/token_bucket.ts";
import { COMMANDS } from "./commands/mod.ts";
import { costOf, dispatch, refuseInvalidText, refuseMalformed, refuseTooLong } from "./dispatch.ts";
import { expireBatch } from "./multiline.ts";
import { type Message, parseMessage } from "./protocol/message.ts";
import type { ServerState } from "./state.ts";
import { LineBuffer } from "./transport/line_buffer.ts";
import {
  SEND_QUEUE_EXCEEDED,
  type Transport,
  type TransportReceiver,
} from "./transport/transport.ts";
import { Client } from "./members.ts";

/** Tags of a client's line, with `@` and the space after them (IRCv3 message-tags). */
const CLIENT_TAG_BYTES = 4096;

/** The longest tags that any line may have; a receive queue holds them and a line. */
export const RECEIVED_TAG_BYTES = 8191;

/** Why a client that speaks another protocol is disconnected. */
const FOREIGN = "This port is for IRC";

const lossyDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Turns a client's bytes into commands: splits lines, enforces the rate, and runs one command at a
 * time, in order.
 */
export class ClientConnection implements TransportReceiver {
  readonly client: Client;

  readonly #state: ServerState;
  /** Unix time in milliseconds of an unanswered PING, or null. */
  #pingedAt: number | null = null;
  readonly #input: LineBuffer;
  /** Null until a rate holds for the client. */
  #bucket: TokenBucket | null = null;
  /** What the next command waits for: the last command, or the sending of its answer. */
  #busy: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasBytes = false;
  #hasLine = false;

  constructor(state: ServerState, transport: Transport, privileged: boolean) {
    const now = state.now();
    this.#state = state;
    this.client = new Client(transport, { privileged, now, counters: state.counters });
    const { receiveQueueBytes, lineBytes } = state.limits;
    this.#input = new LineBuffer(Math.max(receiveQueueBytes, lineBytes + RECEIVED_TAG_BYTES));
  }

  receive(chunk: Uint8Array): void | Promise<void> {
    this.client.heardAt = this.#state.now();
    this.#pingedAt = null;
    if (!this.#hasBytes && chunk.length > 0) {
      this.#hasBytes = true;
      if (isForeignBeginning(chunk)) return this.#state.disconnect(this.client, FOREIGN);
    }
    this.#input.append(chunk);
    this.#process();
    if (this.#busy) return this.#busy;
  }

  disconnected(reason: string): void {
    clearTimeout(this.#timer);
    if (reason === SEND_QUEUE_EXCEEDED) this.#state.counters.sendQueueCuts++;
    this.#state.forget(this.client, reason);
  }

  /** Disconnects a client that does not register or answer in time; sends PING to a silent one. */
  checkTime(): void {
    const { limits } = this.#state;
    const { client } = this;
    if (client.transport.internal || client.quitReason !== null) return;
    const now = this.#state.now();
    expireBatch(this.#state, client);
    if (!client.registered) {
      const limit = limits.registrationSeconds;
      if (limit !== null && now - client.connectedAt >= limit * 1000) {
        this.#state.disconnect(client, "Registration timed out");
      }
    } else if (limits.pingSeconds !== null) {
      this.#checkSilence(now, limits.pingSeconds);
    }
  }

  #checkSilence(now: number, seconds: number): void {
    if (this.#pingedAt !== null) {
      if (now - this.#pingedAt < seconds * 1000) return;
      this.#state.disconnect(this.client, `Ping timeout: ${seconds} seconds`);
    } else if (now - this.client.heardAt >= seconds * 1000) {
      this.#pingedAt = now;
      const { serverName } = this.#state;
      this.client.send(this.#state.bareMessage("PING", { params: [], text: serverName }));
    }
  }

  /** Runs the commands that may run now; disconnects a client with too much unread input. */
  #process(): void {
    const { client } = this;
    while (this.#busy === null && client.quitReason === null) {
      const delay = this.#rateDelay();
      if (delay > 0) {
        this.#waitForRate(delay);
        break;
      }
      const drained = client.transport.drained();
      if (drained) {
        // A client that does not read its answers has to wait for more.
        this.#waitFor(drained);
        break;
      }
      if (!this.#input.next()) break;
      if (this.#input.lineLength === 0) continue;
      this.#state.counters.linesIn++;
      this.#run();
    }
    if (client.quitReason !== null) this.#input.clear();
    else if (!this.#input.settle()) {
      this.#state.counters.floodCuts++;
      this.#state.disconnect(client, "Excess Flood");
    }
  }

  /** Milliseconds until the rate of the client allows a line. */
  #rateDelay(): number {
    const { accountRate, strangerRate } = this.#state.limits;
    const rate = this.client.account === null ? strangerRate : accountRate;
    if (rate === null || this.client.privileged) {
      this.#bucket = null;
      return 0;
    }
    const now = this.#state.now();
    this.#bucket ??= new TokenBucket(rate, now);
    this.#bucket.follow(rate, now);
    return this.#bucket.delay(now);
  }

  #waitForRate(delay: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#process();
    }, delay);
  }

  /** Runs the line that the buffer is at. */
  #run(): void {
    const { client } = this;
    const { text, tagLength, lineLength } = this.#input;
    const line = text ?? lossyDecoder.decode(this.#input.line);
    const message = parseMessage(line);
    if (!client.registered && this.#isForeign(line, message)) {
      return this.#state.disconnect(client, FOREIGN);
    }
    this.#bucket?.take(this.#state.now(), message ? costOf(client, message) : 1);
    const isTooLong = tagLength > CLIENT_TAG_BYTES ||
      lineLength - tagLength > this.#state.limits.lineBytes - "\r\n".length;
    if (isTooLong) {
      refuseTooLong(this.#state, client, message);
    } else if (text === null) {
      refuseInvalidText(this.#state, client, message);
    } else if (message === null) {
      refuseMalformed(this.#state, client);
    } else {
      const { history } = this.#state;
      const before = history.recorded;
      // A client that added to the history waits with the next command while the store is behind.
      const room = () => history.recorded === before ? null : history.room();
      const pending = dispatch(this.#state, client, message);
      const wait = pending ? pending.then(() => room() ?? undefined) : room();
      if (wait) this.#waitFor(wait);
    }
  }

  #isForeign(line: string, message: Message | null): boolean {
    const isFirst = !this.#hasLine;
    this.#hasLine = true;
    return isForeignLine(line, message, { isFirst, isKnown: (name) => COMMANDS.has(name) });
  }

  #waitFor(pending: Promise<void>): void {
    this.#busy = pending.finally(() => {
      this.#busy = null;
      this.#process();
    });
  }
}

const [LF, CR, SPACE] = [0x0a, 0x0d, 0x20];

/** A line of a request of HTTP: a method, a target and a version (RFC 9112, section 3). */
const REQUEST = /^[^ ]{1,64} [^ ]* HTTP\/\d/i;

/** A line of a header of HTTP or of mail (RFC 9110, section 5; RFC 5322, section 2.2). */
const HEADER = /^[\w-]{1,64}:(?:[ \t]|$)/;

/** What a proxy says to a port that expects none; the client behind it comes next. */
const OF_PROXIES = "PROXY";

/**
 * Finds out that a client speaks another protocol. A web page can make its browser send a request
 * with lines of IRC in it to any port of this machine, and the server would skip what it does not
 * know. So the first line must be a command, and no line before the registration may be of HTTP.
 *
 * @param text the line
 * @param message what it says; null if it is no message
 * @param isFirst whether it is the client's first line
 */
function isForeignLine(
  text: string,
  message: Message | null,
  { isFirst, isKnown }: { readonly isFirst: boolean; isKnown(command: string): boolean },
): boolean {
  if (REQUEST.test(text) || HEADER.test(text)) return true;
  if (!isFirst) return false;
  return message === null || !(isKnown(message.command) || message.command === OF_PROXIES);
}

/** Whether a client's first bytes begin no text, as in TLS and STUN: there may come no line at all. */
function isForeignBeginning(chunk: Uint8Array): boolean {
  const [first = SPACE] = chunk;
  return first < SPACE && first !== LF && first !== CR;
}
