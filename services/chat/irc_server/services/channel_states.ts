import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from "node:crypto";
import type { KeptChannel } from "../../../engines/irc/mod.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Scheduler } from "../../../kernel/scheduler.ts";

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

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts the keys of channels (AES-256-GCM), so that the database alone reveals none. */
export class KeySeal {
  readonly #key: Uint8Array;

  /** @param secret a secret outside the database; any length */
  constructor(secret: Uint8Array) {
    this.#key = createHash("sha256").update("channel keys\0").update(secret).digest();
  }

  /** Encrypts a text; the base64 result differs each time. */
  seal(text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce);
    const body = [cipher.update(text, "utf8"), cipher.final()];
    return Buffer.concat([nonce, ...body, cipher.getAuthTag()]).toString("base64");
  }

  /** The decrypted text; null if it was encrypted with another secret, or changed. */
  open(sealed: string): string | null {
    const bytes = Buffer.from(sealed, "base64");
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
    const end = bytes.length - TAG_BYTES;
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(end));
    try {
      const body = [decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()];
      return Buffer.concat(body).toString("utf8");
    } catch {
      return null;
    }
  }
}

/** How long a failed write waits before it is tried again, in milliseconds. */
const RETRY = 5000;

interface LatestWritesOptions<Value> {
  /** Writes the value of a key; rejects if it cannot. */
  readonly write: (key: string, value: Value) => Promise<void>;
  /** What the log says if a write fails. */
  readonly failure: string;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Writes the latest value of each key. A change is written at once; changes that arrive during a
 * write are combined into the next one. A failed write is tried again with the next change, or later.
 */
export class LatestWrites<Value> {
  readonly #options: LatestWritesOptions<Value>;
  /** Unwritten values. */
  readonly #pending = new Map<string, Value>();
  readonly #writing = new Map<string, Promise<boolean>>();
  readonly #retries = new Map<string, () => void>();

  constructor(options: LatestWritesOptions<Value>) {
    this.#options = options;
  }

  /** The unwritten value of a key; undefined if there is none. */
  pending(key: string): Value | undefined {
    return this.#pending.get(key);
  }

  /** Writes a value. Tells whether it, or a later one, is on disk; if not, it is tried again. */
  put(key: string, value: Value): Promise<boolean> {
    this.#pending.set(key, value);
    return this.#writing.get(key) ?? this.#start(key);
  }

  /** Drops the unwritten value of a key. */
  forget(key: string): void {
    this.#pending.delete(key);
  }

  /** Writes everything pending, including what has failed before. */
  async close(): Promise<void> {
    for (const key of [...this.#retries.keys()]) this.#start(key);
    await Promise.all(this.#writing.values());
    for (const cancel of this.#retries.values()) cancel();
  }

  #start(key: string): Promise<boolean> {
    this.#retries.get(key)?.();
    this.#retries.delete(key);
    if (!this.#pending.has(key)) return Promise.resolve(true);
    const writing = this.#write(key);
    this.#writing.set(key, writing);
    return writing;
  }

  /** Writes until nothing is pending. False if that failed. */
  async #write(key: string): Promise<boolean> {
    const { log, scheduler, write, failure } = this.#options;
    try {
      for (let next = this.#pending.get(key); next !== undefined; next = this.#pending.get(key)) {
        await write(key, next);
        if (this.#pending.get(key) === next) this.#pending.delete(key);
      }
      return true;
    } catch (error) {
      log.warn(failure, { error });
      this.#retries.set(key, scheduler.after(RETRY, () => void this.#start(key)));
      return false;
    } finally {
      this.#writing.delete(key);
    }
  }
}
