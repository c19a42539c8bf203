/** Public keys of SSH (RFC 4253, 5656, 8709; OpenSSH's PROTOCOL.u2f), as they sign commits. */
import { Buffer } from "node:buffer";
import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { GitError } from "./error.ts";

/** Longest line with a key, in characters. */
export const MAX_SSH_KEY = 4000;

/** A key that can sign. */
export interface SshKey {
  /** Such as `ssh-ed25519`. */
  readonly type: string;
  /** `SHA256:…`, as `ssh-keygen -l` shows it. */
  readonly fingerprint: string;
  /** The key as lines of files have it: its type, and its bytes in Base64. */
  readonly line: string;
  /** What follows the key in its line. */
  readonly comment: string;
  readonly verifier: KeyVerifier;
}

/** What verifies a signature by a key. */
export interface KeyVerifier {
  readonly key: KeyObject;
  readonly form: "ed25519" | "ecdsa" | "rsa";
  /** The curve's hash; null if the signature names it. */
  readonly hash: string | null;
  /** The length of a number of the signature, in bytes; 0 where that does not matter. */
  readonly numberBytes: number;
  /** What a security key signs for; null for a key in a file. */
  readonly application: string | null;
}

/** Bits of an RSA key. */
const [MIN_RSA, MAX_RSA] = [2048, 8192];
/** Longest exponent of an RSA key, in bytes. */
const MAX_EXPONENT = 4;

interface Curve {
  readonly name: string;
  readonly crv: string;
  readonly hash: string;
  /** Bytes of a coordinate. */
  readonly bytes: number;
}

const P256: Curve = { name: "nistp256", crv: "P-256", hash: "sha256", bytes: 32 };

const CURVES: ReadonlyMap<string, Curve> = new Map([
  ["ecdsa-sha2-nistp256", P256],
  ["ecdsa-sha2-nistp384", { name: "nistp384", crv: "P-384", hash: "sha384", bytes: 48 }],
  ["ecdsa-sha2-nistp521", { name: "nistp521", crv: "P-521", hash: "sha512", bytes: 66 }],
  ["sk-ecdsa-sha2-nistp256@openssh.com", P256],
]);

/** Values of SSH's wire format, one after the other (RFC 4251, 5). */
export class SshReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  bytes(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new GitError("The key or the signature is cut short");
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }

  uint32(): number {
    return this.bytes(4).readUInt32BE();
  }

  string(): Buffer {
    return this.bytes(this.uint32());
  }

  text(): string {
    return this.string().toString("latin1");
  }

  /** A number from 0, without the zeros before it. */
  number(): Buffer {
    const bytes = this.string();
    if (bytes.length > 0 && bytes[0]! >= 0x80) throw new GitError("A number of SSH is negative");
    const first = bytes.findIndex((byte) => byte !== 0);
    return first < 0 ? bytes.subarray(bytes.length) : bytes.subarray(first);
  }

  /** A number of a key, which has one form alone: else one key would have several fingerprints. */
  keyNumber(): Buffer {
    const start = this.#at;
    const number = this.number();
    const zeros = (number[0] ?? 0) >= 0x80 ? 1 : 0;
    if (this.#at - start > 4 + zeros + number.length) {
      throw new GitError("A number of the key has zeros before it that it does not need");
    }
    return number;
  }
}

/**
 * Reads a line with a public key: its type, its bytes in Base64, and a comment.
 *
 * @throws {GitError} if it is none, or of a kind that cannot sign commits here
 */
export function parseSshKey(line: string): SshKey {
  const text = line.slice(0, MAX_SSH_KEY).trim();
  if (/[\r\n]/.test(text)) throw new GitError("There are several lines: add one key at a time");
  const [type = "", base64 = "", ...comment] = text.split(/[ \t]+/);
  if (!/^[a-z0-9@.-]{1,64}$/.test(type) || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) {
    throw new GitError("This is no public key of SSH, which is a line such as “ssh-ed25519 AAAA…”");
  }
  const key = readSshKey(Buffer.from(base64, "base64"));
  if (key.type !== type) throw new GitError("The key is not of the type that its line names");
  return { ...key, comment: comment.join(" ") };
}

/**
 * Reads the bytes of a public key.
 *
 * @throws {GitError} if they are none, or of a kind that cannot sign commits here
 */
export function readSshKey(blob: Uint8Array): SshKey {
  const reader = new SshReader(blob);
  const type = reader.text();
  const verifier = verifierOf(type, reader);
  if (!reader.isAtEnd) throw new GitError("The key goes on after its end");
  const digest = createHash("sha256").update(blob).digest("base64").slice(0, -1);
  const line = `${type} ${Buffer.from(blob).toString("base64")}`;
  return { type, fingerprint: `SHA256:${digest}`, line, comment: "", verifier };
}

function verifierOf(type: string, reader: SshReader): KeyVerifier {
  const isHardware = type.startsWith("sk-");
  const curve = CURVES.get(type);
  if (curve !== undefined) {
    const key = ecdsaKey(curve, reader);
    const application = isHardware ? reader.text() : null;
    return { key, form: "ecdsa", hash: curve.hash, numberBytes: curve.bytes, application };
  }
  switch (type) {
    case "ssh-ed25519":
    case "sk-ssh-ed25519@openssh.com": {
      const point = reader.string();
      if (point.length !== 32) throw new GitError("An Ed25519 key has 32 bytes");
      const key = keyOf({ kty: "OKP", crv: "Ed25519", x: point.toString("base64url") });
      const application = isHardware ? reader.text() : null;
      return { key, form: "ed25519", hash: null, numberBytes: 0, application };
    }
    case "ssh-rsa":
      return { key: rsaKey(reader), form: "rsa", hash: null, numberBytes: 0, application: null };
    default:
      throw new GitError(
        "Keys of this type do not sign here: use ed25519, ecdsa, or rsa of 2048 bits or more",
      );
  }
}

function ecdsaKey({ name, crv, bytes }: Curve, reader: SshReader): KeyObject {
  if (reader.text() !== name) throw new GitError("The key is on another curve than its type says");
  const point = reader.string();
  if (point.length !== 1 + 2 * bytes || point[0] !== 4) {
    throw new GitError("The key is no point of its curve");
  }
  const x = point.subarray(1, 1 + bytes).toString("base64url");
  const y = point.subarray(1 + bytes).toString("base64url");
  return keyOf({ kty: "EC", crv, x, y });
}

function rsaKey(reader: SshReader): KeyObject {
  const [exponent, modulus] = [reader.keyNumber(), reader.keyNumber()];
  const bits = modulus.length * 8 - Math.clz32(modulus[0] ?? 0) + 24;
  if (bits < MIN_RSA || bits > MAX_RSA || exponent.length > MAX_EXPONENT) {
    throw new GitError(`An RSA key has ${MIN_RSA} to ${MAX_RSA} bits`);
  }
  return keyOf({
    kty: "RSA",
    n: modulus.toString("base64url"),
    e: exponent.toString("base64url"),
  });
}

function keyOf(key: JsonWebKey): KeyObject {
  try {
    return createPublicKey({ key, format: "jwk" });
  } catch {
    throw new GitError("The key is not valid, or on a curve that this build cannot verify");
  }
}
