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
import type { NegotiationAnswer } from "../../services/engines/fossil/mod.ts";
import type { GitDoor, GrowingFile } from "../../services/work/git/mod.ts";
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

  async #fetch(request: FetchRequest, call: FetchCall): Promise<Body> {
    if (request.wants.length === 0) throw new GitError("A fetch names no object");
    const answer = await this.#negotiate(request, call);
    const head: Uint8Array<ArrayBuffer>[] = [];
    if (!request.isDone && request.haves.length > 0) {
      head.push(textPacket("acknowledgments\n"));
      if (answer.common.length === 0) head.push(textPacket("NAK\n"));
      for (const name of answer.common) head.push(textPacket(`ACK ${name}\n`));
      if (!answer.isReady || request.waitsForDone) return joined([...head, markPacket("flush")]);
      head.push(textPacket("ready\n"), markPacket("delimiter"));
    }
    if (request.depth !== null) {
      head.push(textPacket("shallow-info\n"), ...shallowLines(answer), markPacket("delimiter"));
    }
    head.push(textPacket("packfile\n"));
    return await this.#packed(head, request, call);
  }

  /**
   * Answers a request of version 0.
   *
   * @throws {GitError} it is malformed
   * @throws {ServiceError} it cannot be answered
   */
  async old(message: Uint8Array, call: FetchCall): Promise<Body> {
    const request = parseOldFetch(message);
    if (request === null) return new Uint8Array(0);
    const answer = await this.#negotiate(request, call);
    const head = request.depth === null ? [] : [...shallowLines(answer), markPacket("flush")];
    // A client that asks for a depth first reads where its history will end.
    if (request.depth !== null && request.haves.length === 0 && !request.isDone) {
      return joined(head);
    }
    const acknowledged = acknowledge(request, answer);
    head.push(...acknowledged.lines);
    return acknowledged.sendsPack ? await this.#packed(head, request, call) : joined(head);
  }

  /** What is common; the objects are there once the references are. */
  async #negotiate(request: FetchRequest, { project, signal }: FetchCall) {
    await this.#door.refs(project);
    return await this.#door.negotiate(project, request, signal);
  }

  async #packed(
    head: readonly Uint8Array[],
    request: FetchRequest,
    { project, caller, signal }: FetchCall,
  ): Promise<Body> {
    const pack = await this.#door.pack(project, request, { caller, signal });
    return streamed(joined(head), pack, request.sideBand);
  }
}

/** Git ends these lines with no newline, and libgit2 takes none. */
function shallowLines({ shallow, unshallow }: NegotiationAnswer): Uint8Array<ArrayBuffer>[] {
  return [
    ...shallow.map((name) => textPacket(`shallow ${name}`)),
    ...unshallow.map((name) => textPacket(`unshallow ${name}`)),
  ];
}

/** What a client of version 0 learns of what is common, and whether the pack follows. */
function acknowledge(
  { acknowledging, needsNoDone, haves, isDone }: OldFetch,
  { common, isReady }: NegotiationAnswer,
): { readonly lines: readonly Uint8Array<ArrayBuffer>[]; readonly sendsPack: boolean } {
  const last = common.at(-1);
  const ack = (name: string, state = "") => textPacket(`ACK ${name}${state}\n`);
  const nak = textPacket("NAK\n");
  if (acknowledging === "single") {
    const [first] = common;
    return { lines: [first === undefined ? nak : ack(first)], sendsPack: isDone };
  }
  const state = acknowledging === "detailed" ? " common" : " continue";
  const known = new Set(common);
  const lines = haves.filter((name) => known.has(name)).map((name) => ack(name, state));
  if (isDone) return { lines: [...lines, last === undefined ? nak : ack(last)], sendsPack: true };
  if (!isReady || last === undefined) return { lines: [...lines, nak], sendsPack: false };
  lines.push(ack(last, acknowledging === "detailed" ? " ready" : " continue"), nak);
  return needsNoDone && acknowledging === "detailed"
    ? { lines: [...lines, ack(last)], sendsPack: true }
    : { lines, sendsPack: false };
}

/** The head of an answer, and then a pack in packets, or as it is. */
function streamed(
  head: Uint8Array<ArrayBuffer>,
  pack: GrowingFile,
  sideBand: SideBand,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const before = sideBand === "none" ? 0 : HEAD_BYTES + CHANNEL_BYTES;
  let isEnded = false;
  return new ReadableStream({
    start(controller) {
      controller.enqueue(head);
      pack.onClosed(() => {
        if (!isEnded) controller.error(new Error("The client did not read its pack in time"));
      });
    },
    async pull(controller) {
      const buffer = new Uint8Array(before + CHUNK_BYTES[sideBand]);
      try {
        const count = await pack.read(buffer.subarray(before));
        if (count === null) {
          isEnded = true;
          if (sideBand !== "none") controller.enqueue(markPacket("flush"));
          pack.close();
          return controller.close();
        }
        if (before > 0) {
          const length = (before + count).toString(16).padStart(HEAD_BYTES, "0");
          new TextEncoder().encodeInto(length, buffer);
          buffer[HEAD_BYTES] = DATA;
        }
        controller.enqueue(buffer.subarray(0, before + count));
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
