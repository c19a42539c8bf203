/** Parts of a secret with at least this length are removed from error texts. */
const MIN_PIECE = 8;

const REMOVED = "[removed]";

/**
 * Removes the secrets of one backend from its provider's texts: in plain form, and as encoded in
 * JSON, URLs, forms and base64.
 */
export class Redactor {
  readonly #spellings: readonly string[];
  #pieces: ReadonlySet<string> | null = null;

  constructor(secrets: readonly string[]) {
    const all = secrets.filter((secret) => secret !== "").flatMap(spellings);
    this.#spellings = [...new Set(all)].sort((a, b) => b.length - a.length);
  }

  /** Removes whole secrets; for answers, which may be long. */
  answer(text: string): string {
    return this.#spellings.reduce((rest, secret) => rest.replaceAll(secret, REMOVED), text);
  }

  /** Removes every sufficiently long part of a secret; for texts of errors. */
  error(text: string): string {
    this.#pieces ??= new Set(this.#spellings.flatMap(piecesOf));
    const rest = this.answer(text);
    let result = "";
    let index = 0;
    while (index < rest.length) {
      const length = pieceAt(this.#pieces, rest, index);
      if (length === 0) {
        result += rest[index++];
      } else {
        result += REMOVED;
        index += length;
      }
    }
    return result;
  }
}

function pieceAt(pieces: ReadonlySet<string>, text: string, start: number): number {
  let end = start;
  while (pieces.has(text.slice(end, end + MIN_PIECE))) end++;
  return end === start ? 0 : end - start + MIN_PIECE - 1;
}

function spellings(secret: string): string[] {
  const url = encodeURIComponent(secret);
  const urls = [
    url,
    lowerCaseEscapes(url),
    new URLSearchParams({ "": secret }).toString().slice(1),
  ];
  return [secret, JSON.stringify(secret).slice(1, -1), ...urls, ...base64Spellings(secret)];
}

function lowerCaseEscapes(url: string): string {
  return url.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
}

/**
 * A secret in base64 (RFC 4648, both alphabets), at any offset in the encoded text, such as after
 * the name in Basic credentials. Characters that depend on its neighbours are omitted.
 */
function base64Spellings(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  return [0, 1, 2].flatMap((before) => {
    const padded = new Uint8Array(before + bytes.length);
    padded.set(bytes, before);
    const encoded = btoa(Array.from(padded, (byte) => String.fromCharCode(byte)).join(""));
    const first = Math.ceil(before * 8 / 6);
    const end = Math.floor(padded.length * 8 / 6);
    const own = encoded.slice(first, end);
    return own.length < MIN_PIECE ? [] : [own, own.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

function piecesOf(secret: string): string[] {
  const count = Math.max(0, secret.length - MIN_PIECE + 1);
  return Array.from({ length: count }, (_, index) => secret.slice(index, index + MIN_PIECE));
}
