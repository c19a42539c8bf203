/** Bytes of a part of a stream: its reader and others take turns on the thread. */
export const PART_BYTES = 64 * 1024;

/**
 * Bytes whose memory is given back as soon as the last holder lets them go. V8 collects the garbage
 * of a whole heap after every few megabytes of new buffers, which takes the main thread 40 ms: what
 * passes on large answers should not leave their memory to it.
 */
export class HeldBytes {
  readonly length: number;
  /** Null once nobody holds them. */
  #bytes: Uint8Array<ArrayBuffer> | null;
  /** The one that made it is the first. */
  #holders = 1;

  /** @param bytes nobody else uses them or their buffer from now on */
  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.length = bytes.length;
    this.#bytes = bytes;
  }

  /**
   * The bytes, for as long as the caller holds them.
   *
   * @throws RangeError if nobody holds them
   */
  get bytes(): Uint8Array<ArrayBuffer> {
    if (this.#bytes === null) throw new RangeError("The bytes have been let go");
    return this.#bytes;
  }

  /**
   * The bytes in parts, each a copy that belongs to the reader. It holds the bytes until its end.
   *
   * @param start the first byte
   * @param end the first one behind the last
   */
  stream(start = 0, end = this.length): ReadableStream<Uint8Array<ArrayBuffer>> {
    const { bytes } = this;
    this.#holders++;
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => {
        const next = Math.min(start + PART_BYTES, end);
        if (next > start) controller.enqueue(bytes.slice(start, next));
        start = next;
        if (start < end) return;
        controller.close();
        this.letGo();
      },
      cancel: () => this.letGo(),
    }, { highWaterMark: 0 });
  }

  /** Call this once for each time that the bytes are held. */
  letGo(): void {
    this.#holders--;
    if (this.#holders > 0) return;
    giveBack(this.bytes);
    this.#bytes = null;
  }
}

/** Gives back the memory of bytes at once. Nobody else may use their buffer. */
export function giveBack({ buffer }: Uint8Array<ArrayBuffer>): void {
  buffer.transfer(0);
}
