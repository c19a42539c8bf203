/** A file of this length or more waits for other such files, in bytes. */
const LONG_BYTES = 16 * 1024 * 1024;

/** The turns of long unversioned files: to write one takes a multiple of its length in memory. */
export class LongFiles {
  /** Settles when the last long file is stored. */
  #last: Promise<void> = Promise.resolve();

  /** Stores a file; a long one after those that came before. */
  async inTurn(bytes: number, store: () => Promise<void>): Promise<void> {
    if (bytes < LONG_BYTES) return await store();
    const turn = this.#last.then(store);
    this.#last = turn.catch(() => {});
    await turn;
  }
}
