import { Invalid, ServiceError, TooSlow } from "../../services/kernel/errors.ts";
import type { MessageSource } from "../../services/engines/fossil/mod.ts";
import { receiveUpload } from "../../services/work/projects/mod.ts";
import type { ArrivingMessage } from "../../services/work/sync/mod.ts";

/** A body up to this length is read into memory, and a longer one into a file, in bytes. */
export const MEMORY_BYTES = 256 * 1024;

/** The bounds of a body, and where a long one is stored. */
export interface ArrivingBodyOptions {
  /** Longest wait for the next part, in milliseconds. */
  readonly stallMs: number;
  readonly maxBytes: number;
  readonly folder: string;
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;

/**
 * The body of a message while it arrives. Only its beginning is read at first: the rest is stored
 * once somebody may send it, or else read and dropped, because clients write before they read.
 */
export class ArrivingBody implements AsyncDisposable {
  readonly source: MessageSource | ArrivingMessage;
  readonly #options: ArrivingBodyOptions;
  readonly #reader: BodyReader;
  readonly #head: Uint8Array<ArrayBuffer>;
  readonly #stored = new AsyncDisposableStack();
  #isReceived: boolean;
  #failure: { readonly error: unknown } | null = null;

  private constructor(
    reader: BodyReader,
    beginning: Beginning,
    options: ArrivingBodyOptions,
  ) {
    const { head, isWhole } = beginning;
    this.#reader = reader;
    this.#head = head;
    this.#isReceived = isWhole;
    this.#options = options;
    this.source = isWhole
      ? { kind: "bytes", bytes: head }
      : { kind: "arriving", head, receive: (maxBytes, check) => this.#receive(maxBytes, check) };
  }

  /**
   * Reads the beginning of a body.
   *
   * @throws Invalid if the body is incomplete or missing, TooSlow
   */
  static async begin(
    body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
    options: ArrivingBodyOptions,
  ): Promise<ArrivingBody> {
    if (body === null) throw new Invalid("The body is empty");
    const reader = body.getReader();
    try {
      return new ArrivingBody(reader, await beginningOf(reader, options.stallMs), options);
    } catch (error) {
      await reader.cancel().catch(() => {});
      throw error;
    }
  }

  /**
   * Reads and drops the rest of a body that was not received.
   *
   * @throws what `receive` threw; TooSlow, Invalid
   */
  async finish(): Promise<void> {
    if (this.#failure !== null) throw this.#failure.error;
    let bytes = this.#head.length;
    while (!this.#isReceived && bytes <= this.#options.maxBytes) {
      const { value, done } = await nextPart(this.#reader, this.#options.stallMs);
      this.#isReceived = done;
      bytes += value?.length ?? 0;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel().catch(() => {});
    await this.#stored.disposeAsync();
  }

  async #receive(
    maxBytes: number,
    check: ((bytes: number) => void) | undefined,
  ): Promise<MessageSource> {
    this.#isReceived = true;
    const { folder, stallMs } = this.#options;
    try {
      const body = joined(this.#head, this.#reader);
      const sent = { body, headers: new Headers() };
      const limits = { stallMs, maxBytes, check };
      const { path } = this.#stored.use(await receiveUpload(folder, sent, limits));
      return { kind: "file", path };
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }
}

interface Beginning {
  readonly head: Uint8Array<ArrayBuffer>;
  /** Whether it is the whole body. */
  readonly isWhole: boolean;
}

async function beginningOf(reader: BodyReader, stallMs: number): Promise<Beginning> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let isWhole = false;
  while (!isWhole && bytes <= MEMORY_BYTES) {
    const { value, done } = await nextPart(reader, stallMs);
    isWhole = done;
    if (value === undefined) continue;
    parts.push(value);
    bytes += value.length;
  }
  return { head: new Uint8Array(await new Blob(parts).arrayBuffer()), isWhole };
}

/** The bytes that were read, and then those of the reader. */
function joined(head: Uint8Array<ArrayBuffer>, reader: BodyReader) {
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(head),
    async pull(controller) {
      const { value, done } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

async function nextPart(
  reader: BodyReader,
  stallMs: number,
): Promise<ReadableStreamReadResult<Uint8Array<ArrayBuffer>>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooSlow("The body did not arrive in time")), stallMs);
  });
  try {
    return await Promise.race([reader.read(), late]);
  } catch (error) {
    throw error instanceof ServiceError ? error : new Invalid("The body is incomplete");
  } finally {
    clearTimeout(timer);
  }
}
