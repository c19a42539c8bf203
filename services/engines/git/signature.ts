/** Signatures of commits; those of SSH are verified (OpenSSH's PROTOCOL.sshsig and PROTOCOL.u2f). */
import { Buffer } from "node:buffer";
import { createHash, type KeyObject, verify } from "node:crypto";
import { GitError } from "./error.ts";
import { readSshKey, type SshKey, SshReader } from "./ssh_key.ts";

/** What a commit's signature is, without the question whose the key is. */
export type CommitSignature =
  | { readonly kind: "gpg" | "x509" | "unknown" }
  | {
    readonly kind: "ssh";
    /** Of the key; null if the signature is malformed, or its key of a kind that is not verified. */
    readonly fingerprint: string | null;
    /** Whether the key has signed this commit; null if its kind is not verified. */
    readonly isGood: boolean | null;
  };

/** Longest signature that is looked at, in characters. */
const MAX_SIGNATURE = 20_000;
/** The namespace of signatures of Git. */
const NAMESPACE = "git";
const MAGIC = "SSHSIG";
const SSH_HEAD = "-----BEGIN SSH SIGNATURE-----";
const SSH_TAIL = "-----END SSH SIGNATURE-----";
/** Hashes of RSA signatures, by the names of their algorithms; SHA-1 is none of them. */
const RSA_HASHES: ReadonlyMap<string, string> = new Map([
  ["rsa-sha2-256", "sha256"],
  ["rsa-sha2-512", "sha512"],
]);
/** Whether somebody has touched a security key. */
const IS_TOUCHED = 0x01;

const OTHER_KINDS: readonly (readonly [head: string, kind: "gpg" | "x509"])[] = [
  ["-----BEGIN PGP ", "gpg"],
  ["-----BEGIN SIGNED MESSAGE-----", "x509"],
];

/**
 * The signature of a commit; null if it has none.
 *
 * @param commit the content of the object
 */
export function signatureOf(commit: Uint8Array): CommitSignature | null {
  const split = splitSignature(commit);
  if (split === null) return null;
  const { signature, payload } = split;
  if (signature.length > MAX_SIGNATURE) return { kind: "unknown" };
  if (signature.startsWith(SSH_HEAD)) return verified(signature, payload);
  const other = OTHER_KINDS.find(([head]) => signature.startsWith(head));
  return { kind: other?.[1] ?? "unknown" };
}

/** Headers with signatures; only that of SHA-1 is of this object's names. */
const [SIGNATURE, OTHER_SIGNATURE] = ["gpgsig ", "gpgsig-sha256 "];

/** The signature of a commit, and what it signs: the commit without it. */
function splitSignature(
  commit: Uint8Array,
): { readonly signature: string; readonly payload: Uint8Array } | null {
  const bytes = Buffer.from(commit.buffer, commit.byteOffset, commit.length);
  const end = bytes.indexOf("\n\n") + 1;
  const headers = bytes.toString("latin1", 0, end);
  if (!headers.includes(`\n${SIGNATURE}`)) return null;
  let [signature, kept, part] = ["", "", "kept"];
  for (const line of headers.split(/(?<=\n)/)) {
    if (!line.startsWith(" ")) {
      part = line.startsWith(SIGNATURE)
        ? "signature"
        : line.startsWith(OTHER_SIGNATURE)
        ? "other"
        : "kept";
    }
    if (part === "kept") kept += line;
    else if (part === "signature") signature += line.replace(/^(?:gpgsig)? /, "");
  }
  return { signature, payload: Buffer.concat([Buffer.from(kept, "latin1"), bytes.subarray(end)]) };
}

function verified(armored: string, payload: Uint8Array): CommitSignature {
  let fingerprint: string | null = null;
  try {
    const parts = readParts(armored);
    let key: SshKey;
    try {
      key = readSshKey(parts.publicKey);
    } catch (error) {
      if (error instanceof GitError) return { kind: "ssh", fingerprint, isGood: null };
      throw error;
    }
    ({ fingerprint } = key);
    return { kind: "ssh", fingerprint, isGood: isGood(key, parts, payload) };
  } catch (error) {
    if (error instanceof GitError) return { kind: "ssh", fingerprint, isGood: false };
    throw error;
  }
}

interface SignatureParts {
  readonly publicKey: Uint8Array;
  readonly hash: "sha256" | "sha512";
  readonly signature: SshReader;
}

/** @throws {GitError} if it is malformed, or for something else than Git */
function readParts(armored: string): SignatureParts {
  const text = armored.trim();
  if (!text.endsWith(SSH_TAIL)) throw new GitError("The signature has no end");
  const base64 = text.slice(SSH_HEAD.length, -SSH_TAIL.length).replaceAll(/\s/g, "");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new GitError("The signature is not Base64");
  const reader = new SshReader(Buffer.from(base64, "base64"));
  const isKnown = reader.bytes(MAGIC.length).toString("latin1") === MAGIC && reader.uint32() === 1;
  if (!isKnown) throw new GitError("The signature is of another version");
  const publicKey = reader.string();
  if (reader.text() !== NAMESPACE) throw new GitError("The signature is not for Git");
  if (reader.string().length > 0) throw new GitError("The signature has a field that is reserved");
  const hash = reader.text();
  if (hash !== "sha256" && hash !== "sha512") throw new GitError("The hash is unknown");
  const signature = new SshReader(reader.string());
  if (!reader.isAtEnd) throw new GitError("The signature goes on after its end");
  return { publicKey, hash, signature };
}

/** @throws {GitError} if the signature is malformed */
function isGood(key: SshKey, { hash, signature }: SignatureParts, payload: Uint8Array): boolean {
  const { type, verifier } = key;
  const algorithm = signature.text();
  const blob = signature.string();
  const digest = createHash(hash).update(payload).digest();
  const message = Buffer.concat([
    Buffer.from(MAGIC),
    ...[NAMESPACE, "", hash].map((text) => sshString(Buffer.from(text))),
    sshString(digest),
  ]);
  if (verifier.form === "rsa") {
    const rsaHash = RSA_HASHES.get(algorithm);
    if (rsaHash === undefined || !signature.isAtEnd) return false;
    return isSigned(rsaHash, message, verifier.key, blob);
  }
  if (algorithm !== type) return false;
  const signed = verifier.application === null
    ? message
    : signedByHardware(verifier.application, signature, message);
  if (!signature.isAtEnd) return false;
  if (verifier.form === "ed25519") {
    return isSigned(null, signed, verifier.key, blob);
  }
  const numbers = new SshReader(blob);
  const pair = [numbers, numbers].map((one) => derNumber(one, verifier.numberBytes));
  if (!numbers.isAtEnd || verifier.hash === null) return false;
  return isSigned(verifier.hash, signed, verifier.key, der(SEQUENCE, Buffer.concat(pair)));
}

/** Verifies a signature; runtimes throw where others say no, such as for one of another length. */
function isSigned(
  hash: string | null,
  message: Uint8Array,
  key: KeyObject,
  signature: Uint8Array,
): boolean {
  try {
    return verify(hash, message, key, signature);
  } catch {
    return false;
  }
}

/** What a security key signs in place of a message; it must have been touched. */
function signedByHardware(application: string, signature: SshReader, message: Uint8Array): Buffer {
  const [flags, counter] = [signature.bytes(1), signature.bytes(4)];
  if ((flags[0]! & IS_TOUCHED) === 0) throw new GitError("Nobody has touched the key");
  const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();
  return Buffer.concat([
    sha256(Buffer.from(application, "latin1")),
    flags,
    counter,
    sha256(message),
  ]);
}

function sshString(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Types of ASN.1. Deno 2.4 knows pairs of numbers in no other form than DER. */
const [INTEGER, SEQUENCE] = [0x02, 0x30];

/** A number of a signature as DER: a positive one never begins with a bit that is set. */
function derNumber(reader: SshReader, most: number): Buffer {
  const number = reader.number();
  if (number.length > most) throw new GitError("A number of the signature is too long");
  const isSet = number.length === 0 || number[0]! >= 0x80;
  return der(INTEGER, Buffer.concat([Buffer.alloc(isSet ? 1 : 0), number]));
}

/** A value of DER of at most 255 bytes. */
function der(type: number, value: Uint8Array): Buffer {
  const length = value.length < 0x80 ? [value.length] : [0x81, value.length];
  return Buffer.concat([Buffer.from([type, ...length]), value]);
}
