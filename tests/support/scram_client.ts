import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";

/** A client's side of SCRAM-SHA-256 (RFC 5802), for one login. */
export class ScramClient {
  /** The first message. */
  readonly first: string;
  readonly #password: string;
  readonly #bare: string;
  #serverSignature = "";

  constructor(name: string, password: string, nonce = "rOprNGfwEbeRWgbNEkqO") {
    this.#password = password;
    this.#bare = `n=${name},r=${nonce}`;
    this.first = `n,,${this.#bare}`;
  }

  /** The message with the proof, in answer to the server's first message. */
  async final(serverFirst: string): Promise<string> {
    const [, nonce = "", salt = "", iterations = ""] =
      /^r=([^,]+),s=([^,]+),i=(\d+)$/.exec(serverFirst) ?? [];
    const salted = await pbkdf2(this.#password, Buffer.from(salt, "base64"), Number(iterations));
    const withoutProof = `c=biws,r=${nonce}`;
    const authMessage = `${this.#bare},${serverFirst},${withoutProof}`;
    const clientKey = hmac(salted, "Client Key");
    const storedKey = createHash("sha256").update(clientKey).digest();
    const signature = hmac(storedKey, authMessage);
    const proof = clientKey.map((byte, index) => byte ^ (signature[index] ?? 0));
    this.#serverSignature = hmac(hmac(salted, "Server Key"), authMessage).toString("base64");
    return `${withoutProof},p=${Buffer.from(proof).toString("base64")}`;
  }

  /** The expected last message of the server. */
  get serverFinal(): string {
    return `v=${this.#serverSignature}`;
  }
}

async function pbkdf2(password: string, salt: Uint8Array, iterations: number): Promise<Buffer> {
  const bytes = new TextEncoder().encode(password);
  const key = await crypto.subtle.importKey("raw", bytes, "PBKDF2", false, ["deriveBits"]);
  const algorithm = { name: "PBKDF2", hash: "SHA-256", salt: Uint8Array.from(salt), iterations };
  return Buffer.from(await crypto.subtle.deriveBits(algorithm, key, 256));
}

function hmac(key: Uint8Array, message: string): Buffer {
  return createHmac("sha256", key).update(message).digest();
}
