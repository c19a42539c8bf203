import { encodeUtf8, escapeToken } from "../codec/mod.ts";
import { type Card, NO_HASH, UV_REMOVED, UV_WITHOUT_CONTENT } from "./cards.ts";

const NEWLINE = 10;

/** Collects the cards of a message. Contents are kept, not copied, until `bytes`. */
export class CardWriter {
  readonly #parts: Uint8Array[] = [];
  /** Lines that are not encoded yet: one long text is cheaper than many short ones. */
  #lines = "";
  #bytes = 0;

  /** The length of the message so far, in bytes; at least that of its ASCII part. */
  get length(): number {
    return this.#bytes + this.#lines.length;
  }

  /** Drops every card. */
  clear(): void {
    this.#parts.length = 0;
    this.#lines = "";
    this.#bytes = 0;
  }

  add(card: Card): void {
    switch (card.kind) {
      case "login":
        return this.#line("login", escapeToken(card.user), card.nonce, card.signature);
      case "push":
      case "pull":
        return this.#line(card.kind, card.serverCode, card.projectCode);
      case "clone":
        return card.version === 1
          ? this.#line("clone")
          : this.#line("clone", card.version, card.sequence);
      case "clone_seqno":
        return this.#line("clone_seqno", card.next);
      case "file":
        return this.#file(["file", card.hash, ...sourceToken(card.source)], card.content);
      case "cfile":
        return this.#file(
          ["cfile", card.hash, ...sourceToken(card.source), card.size],
          card.content,
        );
      case "private":
        return this.#line("private");
      case "igot":
        return card.isPrivate ? this.#line("igot", card.hash, 1) : this.#line("igot", card.hash);
      case "gimme":
        return this.#line("gimme", card.hash);
      case "uvigot":
        return this.#line("uvigot", card.name, card.time, card.hash ?? NO_HASH, card.size);
      case "uvgimme":
        return this.#line("uvgimme", card.name);
      case "uvfile":
        return this.#unversioned(card);
      case "reqconfig":
        return this.#line("reqconfig", card.name);
      case "config":
        return this.#file(["config", card.name], card.content, { isPadded: true });
      case "cookie":
        return this.#line("cookie", card.text);
      case "pragma":
        return this.#line("pragma", card.name, ...card.values.map(escapeToken));
      case "message":
      case "error":
        return this.#line(card.kind, escapeToken(card.text));
    }
  }

  /** A line that readers ignore. */
  comment(text: string): void {
    this.#lines += `# ${text}\n`;
  }

  /** Adds whole cards that are encoded already. */
  append(cards: Uint8Array): void {
    this.#encodeLines();
    this.#parts.push(cards);
    this.#bytes += cards.length;
  }

  /** The message. */
  bytes(): Uint8Array {
    this.#encodeLines();
    const message = new Uint8Array(this.#bytes);
    let position = 0;
    for (const part of this.#parts) {
      message.set(part, position);
      position += part.length;
    }
    return message;
  }

  #line(...tokens: readonly (string | number)[]): void {
    this.#lines += `${tokens.join(" ")}\n`;
  }

  /** A card with content. A line end follows content that does not end in one. */
  #file(
    tokens: readonly (string | number)[],
    content: Uint8Array,
    { isPadded = false }: { readonly isPadded?: boolean } = {},
  ): void {
    this.#line(...tokens, content.length);
    this.#encodeLines();
    this.#parts.push(content);
    this.#bytes += content.length;
    if (isPadded || content.at(-1) !== NEWLINE) this.#lines += "\n";
  }

  #unversioned({ name, time, hash, size, content }: Card & { readonly kind: "uvfile" }): void {
    const tokens = ["uvfile", name, time, hash ?? NO_HASH, size] as const;
    if (hash === null) return this.#line(...tokens, UV_REMOVED);
    if (content === null) return this.#line(...tokens, UV_WITHOUT_CONTENT);
    this.#line(...tokens, 0);
    this.#encodeLines();
    this.#parts.push(content);
    this.#bytes += content.length;
    if (content.at(-1) !== NEWLINE) this.#lines += "\n";
  }

  #encodeLines(): void {
    if (this.#lines === "") return;
    const bytes = encodeUtf8(this.#lines);
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    this.#lines = "";
  }
}

function sourceToken(source: string | null): string[] {
  return source === null ? [] : [source];
}
