/** The server's side of SCRAM-SHA-256 (RFC 5802 and 7677), without channel binding. */

import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import type { ScramChallenge, ScramProof } from "../options.ts";

const SERVER_NONCE_BYTES = 18;

/** gs2 header, the bare message, the name, the client's nonce. */
const CLIENT_FIRST = /^([ny],(?:a=([^,]+))?,)(n=([^,]+),r=([!-+\--~]{1,128})(?:,.*)?)$/s;

/** Everything but the proof, the channel binding, the nonce, the proof. */
const CLIENT_FINAL = /^(c=([^,]+),r=([^,]+)(?:,.*)?),p=([A-Za-z0-9+/]+={0,2})$/s;

/** The parts of the client's first message. */
interface ClientFirst {
  readonly name: string;
  readonly header: string;
  /** The message without its header. */
  readonly bare: string;
  readonly nonce: string;
}

/** One exchange, from the client's first message to its proof. */
export class ScramExchange {
  /** The account that the client says it has. */
  readonly name: string;
  readonly #header: string;
  readonly #clientFirstBare: string;
  readonly #nonce: string;
  #serverFirst = "";

  private constructor(first: ClientFirst) {
    this.name = first.name;
    this.#header = first.header;
    this.#clientFirstBare = first.bare;
    this.#nonce = first.nonce + randomBytes(SERVER_NONCE_BYTES).toString("base64");
  }

  /**
   * Reads the client's first message; null if it is malformed or asks for something unsupported.
   */
  static begin(clientFirst: string): ScramExchange | null {
    const [, header = "", authorization, bare = "", encoded = "", nonce = ""] =
      CLIENT_FIRST.exec(clientFirst) ?? [];
    const name = decodeName(encoded);
    if (!name || (authorization !== undefined && authorization !== encoded)) return null;
    return new ScramExchange({ name, header, bare, nonce });
  }

  /** The server's first message. */
  challenge({ salt, iterations }: ScramChallenge): string {
    const encoded = Buffer.from(salt).toString("base64");
    this.#serverFirst = `r=${this.#nonce},s=${encoded},i=${iterations}`;
    return this.#serverFirst;
  }

  /** Reads the client's final message; null if it does not belong to this exchange. */
  proof(clientFinal: string): ScramProof | null {
    const [, withoutProof = "", binding = "", nonce = "", proof = ""] =
      CLIENT_FINAL.exec(clientFinal) ?? [];
    if (binding !== btoa(this.#header) || nonce !== this.#nonce) return null;
    return {
      authMessage: `${this.#clientFirstBare},${this.#serverFirst},${withoutProof}`,
      clientProof: Buffer.from(proof, "base64"),
    };
  }
}

/** Decodes `=2C` and `=3D`. Null if `=` appears in any other way. */
function decodeName(text: string): string | null {
  if (/=(?!2C|3D)/.test(text)) return null;
  return text.replaceAll("=2C", ",").replaceAll("=3D", "=");
}
