import { randomUUID } from "node:crypto";
import type { KeptChannel } from "../../irc/mod.ts";
import { KeySeal } from "./key_seal.ts";

/** A stored channel, with its key encrypted. */
type StoredChannel = Omit<KeptChannel, "name" | "key"> & { readonly sealedKey: string | null };

/** The topic and modes of channels as JSON texts, in which keys are encrypted. */
export class ChannelStates {
  readonly #seal: KeySeal;

  /** @param secret encrypts the keys of channels */
  constructor(secret: Uint8Array) {
    this.#seal = new KeySeal(secret);
  }

  /** A channel as it is stored. */
  format({ createdAt, topic, flags, key, userLimit, lists }: KeptChannel): string {
    const sealedKey = key === null ? null : this.#seal.seal(key);
    return JSON.stringify({ createdAt, topic, flags, sealedKey, userLimit, lists });
  }

  /** An unreadable key is replaced by a random one, so that the channel stays closed. */
  parse(name: string, state: string): KeptChannel {
    const { sealedKey, ...rest } = JSON.parse(state) as StoredChannel;
    const key = sealedKey === null ? null : this.#seal.open(sealedKey) ?? randomUUID();
    return { name, ...rest, key };
  }
}
