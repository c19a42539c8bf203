import type { Scheduler } from "../../kernel/scheduler.ts";

/** Starts what writes the file; it tells how many bytes are there, now and then. */
type Write = (onProgress: (bytes: number) => void) => Promise<{ readonly bytes: number }>;

/** A file that is read while a worker writes it. */
export class GrowingFile {
  readonly #file: Deno.FsFile;
  #written = 0;
  #read = 0;
  #isWhole = false;
  #isClosed = false;
  #failure: { readonly error: unknown } | null = null;
  #news = Promise.withResolvers<void>();
  readonly #closed: (() => void)[] = [];
  /** Begins to wait for the next read; returns what ends that. */
  #watch = (): () => void => () => {};
  #endWatch = () => {};
  readonly #finished: Promise<void>;

  private constructor(file: Deno.FsFile, write: Write) {
    this.#file = file;
    this.#finished = write((bytes) => {
      this.#written = bytes;
      this.#tell();
    }).then(({ bytes }) => {
      this.#written = bytes;
    }, (error) => {
      this.#failure = { error };
    }).then(() => {
      this.#isWhole = true;
      this.#tell();
    });
  }

  /**
   * Opens a file and starts to write it.
   *
   * @throws what `write` throws before the first bytes are there
   */
  static async open(path: string, write: Write): Promise<GrowingFile> {
    const growing = new GrowingFile(await Deno.open(path), write);
    await growing.#news.promise;
    if (growing.#failure === null || growing.#written > 0) return growing;
    growing.close();
    throw growing.#failure.error;
  }

  /** A file that is written already, of so many bytes, and open at its start. */
  static whole(file: Deno.FsFile, bytes: number): GrowingFile {
    return new GrowingFile(file, () => Promise.resolve({ bytes }));
  }

  /**
   * Reads bytes, as many as are there, into a buffer; null at the end.
   *
   * @throws what `write` threw
   */
  async read(buffer: Uint8Array): Promise<number | null> {
    this.#endWatch();
    const count = await this.#take(buffer);
    if (!this.#isClosed) this.#endWatch = this.#watch();
    return count;
  }

  async #take(buffer: Uint8Array): Promise<number | null> {
    while (this.#read === this.#written) {
      if (this.#failure !== null) throw this.#failure.error;
      if (this.#isWhole) return null;
      this.#news = Promise.withResolvers<void>();
      await this.#news.promise;
    }
    const part = buffer.subarray(0, Math.min(buffer.length, this.#written - this.#read));
    const count = await this.#file.read(part);
    if (count === null) throw new Error("A file has become shorter while it was read");
    this.#read += count;
    return count;
  }

  /** Closes the file if nobody reads for so many milliseconds. */
  closeIfStalled(scheduler: Scheduler, milliseconds: number): void {
    this.#watch = () => scheduler.after(milliseconds, () => this.close());
    this.#endWatch = this.#watch();
  }

  /** Calls a function when the file is closed. */
  onClosed(listener: () => void): void {
    this.#closed.push(listener);
  }

  /** Calls a function when nothing more will be written. */
  onWritten(listener: () => void): void {
    this.#finished.then(listener);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#endWatch();
    this.#file.close();
    for (const listener of this.#closed) listener();
  }

  #tell(): void {
    this.#news.resolve();
  }
}
