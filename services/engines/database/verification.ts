import { type ChainedRow, eventHash, GENESIS, type Seal } from "./chain.ts";
import { type ChainPosition, type Checkpoint, type CheckpointName, DAMAGED } from "./journal.ts";

/** Rows that are read at once. */
export const PAGE = 1000;

/** Most findings reported one by one; further ones are only counted. */
const MAX_FINDINGS = 100;

/** What the verification of an event log found. */
export interface LogReport {
  /** How many rows there are. */
  readonly events: number;
  /** The number of the first row and of the last one; 0 if there is none. */
  readonly first: number;
  readonly last: number;
  /**
   * The hash of the last row: stored elsewhere, it later proves that the log up to it is unchanged.
   */
  readonly hash: string;
  /** What is wrong, as sentences, the first hundred. */
  readonly findings: readonly string[];
  /** How many findings there are in all. */
  readonly found: number;
}

/** A raw row: its number is exact, and its texts are whole. */
export interface RawRow {
  readonly number: bigint;
  readonly row: ChainedRow;
  readonly hash: string;
}

/**
 * Verifies an event log: every row is as written, none is missing between the two sealed ends, and
 * none was added. A store reads one snapshot of the log for it.
 */
export class Verification {
  readonly #seal: Seal | null;
  readonly #head: ChainPosition | null;
  readonly #findings: string[] = [];
  #last: ChainPosition;
  #found = 0;
  #events = 0;
  #first = 0;

  /**
   * @param seal the key of the seals, or null if it is lost
   * @param base the sealed beginning of the log; null if there is none
   * @param head its sealed end; null if there is none
   */
  constructor(seal: Seal | null, base: Checkpoint | null, head: Checkpoint | null) {
    this.#seal = seal;
    this.#last = this.#opened("base", base) ?? { seq: 0, hash: GENESIS };
    this.#head = this.#opened("head", head);
    if (seal === null) this.report("The key of the seals is missing, so they prove nothing");
  }

  /** Takes the next row of the log, in the order of their numbers. */
  take(raw: RawRow): void {
    this.#last = this.#verify(raw, this.#last);
  }

  /** Adds a finding. */
  report(finding: string): void {
    this.#found += 1;
    if (this.#findings.length < MAX_FINDINGS) this.#findings.push(finding);
  }

  /** Compares the end of the log with the sealed one, after the last row. */
  finish(): LogReport {
    const [head, last] = [this.#head, this.#last];
    if (head === null) {
      if (this.#events > 0 || this.#seal !== null) this.report("The end of the log is not sealed");
    } else if (head.seq > last.seq) {
      this.report(`${missing(last.seq + 1, head.seq)} at the end of the log`);
    } else if (head.seq < last.seq) {
      this.report(`The rows after ${head.seq} were not written by muster`);
    } else if (head.hash !== last.hash) {
      this.report(`Row ${last.seq} is not the one that was sealed as the last`);
    }
    return {
      events: this.#events,
      first: this.#first,
      last: last.seq,
      hash: last.hash,
      findings: this.#findings,
      found: this.#found,
    };
  }

  /** Compares a row with the one before it. */
  #verify({ number, row, hash }: RawRow, previous: ChainPosition): ChainPosition {
    if (this.#events === 0) this.#first = row.seq;
    this.#events += 1;
    if (number <= BigInt(previous.seq)) {
      this.report(`Row ${number} stands before the beginning of the log`);
      return previous;
    }
    if (row.seq > previous.seq + 1) this.report(missing(previous.seq + 1, row.seq - 1));
    else if (eventHash(previous.hash, row) !== hash) {
      this.report(`Row ${number} is not as it was written`);
    }
    if (row.type === DAMAGED) {
      this.report(`At row ${number} muster found the log damaged: ${row.data}`);
    }
    return { seq: row.seq, hash };
  }

  #opened(name: CheckpointName, checkpoint: Checkpoint | null): ChainPosition | null {
    if (checkpoint !== null && this.#seal?.holds(name, checkpoint) === false) {
      const end = name === "base" ? "beginning" : "end";
      this.report(`The seal at the ${end} of the log is not of its key`);
    }
    return checkpoint;
  }
}

function missing(from: number, to: number): string {
  return from === to ? `Row ${from} is missing` : `The rows ${from} to ${to} are missing`;
}
