/** The answers to `git clone` and `git fetch`, in both versions of the protocol. */
import {
  type FetchRequest,
  GitError,
  listRefs,
  markPacket,
  MAX_PACKET_DATA,
  type OldFetch,
  parseCommand,
  parseOldFetch,
  type SideBand,
  textPacket,
} from "../../services/engines/git/mod.ts";
import type { NegotiationAnswer, PackTime } from "../../services/engines/fossil/mod.ts";
import type { FetchAnswer, GitDoor, GrowingFile } from "../../services/work/git/mod.ts";
import type { Project } from "../../services/work/projects/mod.ts";
import type { Holder } from "../../services/people/identity/mod.ts";
import { ServiceError } from "../../services/kernel/errors.ts";

/** Channels of the side band. */
const DATA = 1;
const FATAL = 3;
/** Bytes of a packet's length, and of its channel. */
const [HEAD_BYTES, CHANNEL_BYTES] = [4, 1];
/** Bytes of pack in a packet. */
const CHUNK_BYTES: Readonly<Record<SideBand, number>> = {
  none: MAX_PACKET_DATA,
  small: 995,
  large: MAX_PACKET_DATA - CHANNEL_BYTES,
};

/** Bytes of a pack that are read at once. */
const READ_BYTES = 256 * 1024;
const encoder = new TextEncoder();

/** A request, and whose it is. */
export interface FetchCall {
  readonly project: Project;
  readonly caller: Holder;
  readonly signal: AbortSignal;
}

type Body = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>;

/** Answers requests of clients that fetch. */
export class FetchAnswers {
  readonly #door: GitDoor;

  constructor(door: GitDoor) {
    this.#door = door;
  }

  /**
   * Answers a request of version 2.
   *
   * @throws {GitError} it is malformed
   * @throws {ServiceError} it cannot be answered
   */
  async command(message: Uint8Array, call: FetchCall): Promise<Body> {
    const command = parseCommand(message);
    switch (command.name) {
      case "ls-refs": {
        const { project } = call;
        const { head, refs } = await this.#door.refs(project);
        const rounds = await this.#door.roundRefs(project, command.list.prefixes);
        return joined(listRefs({ head, refs: [...refs, ...rounds] }, command.list));
      }
      case "object-info":
        return await this.#sizes(command.objects, call);
      case "fetch":
        return await this.#fetch(command.fetch, call);
    }
  }

  async #sizes(objects: readonly string[], { project, signal }: FetchCall): Promise<Body> {
    const sizes = await this.#door.sizes(project, objects, signal);
    const lines = objects.map((name, place) => textPacket(`${name} ${sizes[place] ?? ""}`));
    return joined([textPacket("size"), ...lines, markPacket("flush")]);
  }

  async #fetch(request: FetchRequest, { project, ...call }: FetchCall): Promise<Body> {
    if (request.wants.length === 0) throw new GitError("A fetch names no object");
    const asksFirst = !request.isDone && request.haves.length > 0;
    const time = !asksFirst ? "now" : request.waitsForDone ? "later" : "if ready";
    const { answer, pack } = await this.#door.fetch(project, request, { ...call, pack: time });
    const head: Uint8Array<ArrayBuffer>[] = [];
    if (asksFirst) {
      head.push(textPacket("acknowledgments\n"));
      if (answer.common.length === 0) head.push(textPacket("NAK\n"));
      for (const name of answer.common) head.push(textPacket(`ACK ${name}\n`));
      if (pack === null) return joined([...head, markPacket("flush")]);
      head.push(textPacket("ready\n"), markPacket("delimiter"));
    }
    if (request.depth !== null) {
      head.push(textPacket("shallow-info\n"), ...shallowLines(answer), markPacket("delimiter"));
    }
    head.push(textPacket("packfile\n"));
    return packed(head, pack, request.sideBand);
  }

  /**
   * Answers a request of version 0.
   *
   * @throws {GitError} it is malformed
   * @throws {ServiceError} it cannot be answered
   */
  async old(message: Uint8Array, { project, ...call }: FetchCall): Promise<Body> {
    const request = parseOldFetch(message);
    if (request === null) return new Uint8Array(0);
    const { answer, pack } = await this.#door.fetch(project, request, {
      ...call,
      pack: packTimeOf(request),
    });
    const head = request.depth === null ? [] : [...shallowLines(answer), markPacket("flush")];
    if (!endsWithShallows(request)) head.push(...acknowledge(request, answer, pack !== null));
    return packed(head, pack, request.sideBand);
  }
}

/** Git ends these lines with no newline, and libgit2 takes none. */
function shallowLines({ shallow, unshallow }: NegotiationAnswer): Uint8Array<ArrayBuffer>[] {
  return [
    ...shallow.map((name) => textPacket(`shallow ${name}`)),
    ...unshallow.map((name) => textPacket(`unshallow ${name}`)),
  ];
}

/** Whether a client of version 0, which asks for a depth, first reads where its history will end. */
function endsWithShallows({ depth, haves, isDone }: OldFetch): boolean {
  return depth !== null && haves.length === 0 && !isDone;
}

/** When a client of version 0 gets its pack. */
function packTimeOf(request: OldFetch): PackTime {
  if (endsWithShallows(request)) return "later";
  if (request.isDone) return "now";
  return request.needsNoDone && request.acknowledging === "detailed" ? "if ready" : "later";
}

/** What a client of version 0 learns of what is common. */
function acknowledge(
  { acknowledging, haves, isDone }: OldFetch,
  { common, isReady }: NegotiationAnswer,
  getsPack: boolean,
): Uint8Array<ArrayBuffer>[] {
  const last = common.at(-1);
  const ack = (name: string, state = "") => textPacket(`ACK ${name}${state}\n`);
  const nak = textPacket("NAK\n");
  if (acknowledging === "single") {
    const [first] = common;
    return [first === undefined ? nak : ack(first)];
  }
  const state = acknowledging === "detailed" ? " common" : " continue";
  const known = new Set(common);
  const lines = haves.filter((name) => known.has(name)).map((name) => ack(name, state));
  if (isDone) return [...lines, last === undefined ? nak : ack(last)];
  if (!isReady || last === undefined) return [...lines, nak];
  lines.push(ack(last, acknowledging === "detailed" ? " ready" : " continue"), nak);
  return getsPack ? [...lines, ack(last)] : lines;
}

/** The head of an answer, and the pack, if it follows. */
function packed(
  head: readonly Uint8Array[],
  pack: FetchAnswer["pack"],
  sideBand: SideBand,
): Body {
  if (pack === null) return joined(head);
  if (!(pack instanceof Uint8Array)) return streamed(joined(head), pack, sideBand);
  if (sideBand === "none") return joined([...head, pack]);
  return joined([...head, framed(pack, CHUNK_BYTES[sideBand]), markPacket("flush")]);
}

/** Bytes of a pack in packets of so many each. */
function framed(bytes: Uint8Array, chunk: number): Uint8Array<ArrayBuffer> {
  const before = HEAD_BYTES + CHANNEL_BYTES;
  const packets = Math.ceil(bytes.length / chunk);
  const buffer = new Uint8Array(bytes.length + packets * before);
  for (let packet = 0; packet < packets; packet++) {
    const data = bytes.subarray(packet * chunk, (packet + 1) * chunk);
    const start = packet * (before + chunk);
    const length = (before + data.length).toString(16).padStart(HEAD_BYTES, "0");
    encoder.encodeInto(length, buffer.subarray(start));
    buffer[start + HEAD_BYTES] = DATA;
    buffer.set(data, start + before);
  }
  return buffer;
}

/** The head of an answer, and then a pack in packets, or as it is. */
function streamed(
  head: Uint8Array<ArrayBuffer>,
  pack: GrowingFile,
  sideBand: SideBand,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunk = CHUNK_BYTES[sideBand];
  const buffer = new Uint8Array(Math.floor(READ_BYTES / chunk) * chunk);
  let isEnded = false;
  return new ReadableStream({
    start(controller) {
      controller.enqueue(head);
      pack.onClosed(() => {
        if (!isEnded) controller.error(new Error("The client did not read its pack in time"));
      });
    },
    async pull(controller) {
      try {
        const count = await pack.read(buffer);
        if (count === null) {
          isEnded = true;
          if (sideBand !== "none") controller.enqueue(markPacket("flush"));
          pack.close();
          return controller.close();
        }
        const part = buffer.subarray(0, count);
        controller.enqueue(sideBand === "none" ? part.slice() : framed(part, chunk));
      } catch (error) {
        isEnded = true;
        pack.close();
        if (!(error instanceof ServiceError) || sideBand === "none") throw error;
        controller.enqueue(messagePacket(FATAL, `${error.message}\n`));
        controller.close();
      }
    },
    cancel() {
      isEnded = true;
      pack.close();
    },
  }, { highWaterMark: 0 });
}

/** A sentence on a channel of the side band. */
function messagePacket(channel: number, text: string): Uint8Array<ArrayBuffer> {
  return textPacket(String.fromCharCode(channel) + text);
}

/** The answer that a client shows as the reason of its failure. */
export function errorPacket(text: string): Uint8Array<ArrayBuffer> {
  return textPacket(`ERR ${text}\n`);
}

/** Packets as one body. */
export function joined(packets: Iterable<Uint8Array>): Uint8Array<ArrayBuffer> {
  const all = [...packets];
  const whole = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const packet of all) {
    whole.set(packet, at);
    at += packet.length;
  }
  return whole;
}
