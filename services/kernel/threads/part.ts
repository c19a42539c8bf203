/**
 * A part of the program with messages as its only interface, so that it can run on any thread. It
 * gets a function that sends its answers, and returns one that takes messages. The first message
 * opens it; `null` closes it, and it answers `null`.
 */
export type Part = (answer: (message: unknown) => void) => (message: unknown) => void;

/** Hears what a part answers. */
export interface PartListener<Received> {
  onMessage(message: Received): void;
  /** The part is broken and answers nothing more; open another port. */
  onError(reason: string): void;
}

/** The way to a part. */
export interface PartPort<Sent> {
  /** Opens the part with the first message, which must also be able to open it again. */
  post(message: Sent): void;
  /** Forgets the part. If it is open, send `null` first, and wait for the answer. */
  end(): void;
}
