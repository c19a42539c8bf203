import { Conflict } from "../errors.ts";
import { BoundedMap } from "../kernel/bounded_map.ts";
import type { Sending } from "./arrivals.ts";

/** Sends that are remembered; the database knows older ones to agents. */
const MAX_SENDS = 5000;

interface Send {
  readonly receiver: string;
  readonly result: Promise<string | null>;
}

/** Sends a message once whose sender repeats it with the same id. */
export class Repeats {
  readonly #sends = new BoundedMap<string, Send>(MAX_SENDS);

  /**
   * Sends a message, unless its sender sent one with this id before.
   *
   * @param receiver identifies the receiver
   * @returns the result of the first send
   * @throws Conflict if the id belongs to a message for another receiver, and what `send` throws
   */
  async once(
    { senderId, clientId }: Sending,
    receiver: string,
    send: () => Promise<string | null>,
  ): Promise<string | null> {
    if (clientId === null) return await send();
    const key = `${senderId} ${clientId}`;
    const known = this.#sends.peek(key);
    if (known !== undefined) {
      if (known.receiver !== receiver) throw usedForAnother(clientId);
      return await known.result;
    }
    const result = send();
    this.#sends.set(key, { receiver, result });
    try {
      return await result;
    } catch (error) {
      this.#sends.delete(key);
      throw error;
    }
  }
}

/** The error for an id that belongs to a message for somebody else. */
export function usedForAnother(clientId: string): Conflict {
  return new Conflict(
    `You gave the id "${clientId}" to a message for another receiver: give each message its own id`,
  );
}
