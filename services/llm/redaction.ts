/** So much of a secret in a row is cut out of an error's text. */
const MIN_PIECE = 8;

const REMOVED = "[removed]";

/** Cuts the secrets of one backend out of what its provider says. */
export class Redactor {
  readonly #whole: readonly string[];
  readonly #secrets: readonly string[];
  readonly #pieces: ReadonlySet<string>;

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.filter((secret) => secret !== "");
    this.#whole = [...new Set(this.#secrets.flatMap(spellings))].sort((a, b) =>
      b.length - a.length
    );
    this.#pieces = new Set(this.#secrets.flatMap(piecesOf));
  }

  /** Cuts out every secret as a whole; for answers, which may be long. */
  answer(text: string): string {
    return this.#whole.reduce((rest, secret) => rest.replaceAll(secret, REMOVED), text);
  }

  /** Cuts out every piece of a secret that is long enough to matter; for texts of errors. */
  error(text: string): string {
    const rest = this.answer(text);
    let result = "";
    let index = 0;
    while (index < rest.length) {
      const length = this.#pieceAt(rest, index);
      if (length === 0) {
        result += rest[index++];
      } else {
        result += REMOVED;
        index += length;
      }
    }
    return result;
  }

  #pieceAt(text: string, start: number): number {
    let end = start;
    while (this.#pieces.has(text.slice(end, end + MIN_PIECE))) end++;
    return end === start ? 0 : end - start + MIN_PIECE - 1;
  }
}

/** A secret as it is, as a string of JSON has it, and as a URL has it. */
function spellings(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
}

function piecesOf(secret: string): string[] {
  const count = Math.max(0, secret.length - MIN_PIECE + 1);
  return Array.from({ length: count }, (_, index) => secret.slice(index, index + MIN_PIECE));
}
