import type { ChatLog } from "./chat_log.ts";

/** How long messages must be in sight before they count as read, in milliseconds. */
const SEEN = 1000;

/** Moves the read marker to the newest message, once the reader has seen it. */
export class ChatRead {
  readonly #chat: HTMLElement;
  readonly #log: ChatLog;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #told: string | null = null;

  constructor(chat: HTMLElement, log: ChatLog) {
    this.#chat = chat;
    this.#log = log;
    chat.querySelector(".chat-log")?.addEventListener("scroll", () => this.later(), {
      passive: true,
    });
  }

  /** Looks soon what the reader has seen. */
  later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#look();
    }, SEEN);
  }

  #look(): void {
    const { newest, isAtEnd } = this.#log;
    if (document.hidden || !isAtEnd || newest === null || newest === this.#told) return;
    const csrf = this.#chat.querySelector<HTMLInputElement>(".composer [name=csrf]")?.value ?? "";
    const body = new URLSearchParams({ action: "read", csrf, upto: newest });
    this.#told = newest;
    const headers = { accept: "application/json" };
    fetch(location.pathname, { method: "POST", body, headers, keepalive: true }).then(({ ok }) => {
      if (!ok) this.#told = null;
      else this.#showRead();
    }).catch(() => this.#told = null);
  }

  /** Takes the number of unread messages out of the sidebar. */
  #showRead(): void {
    document.querySelector(`.sidebar a[aria-current="page"] .count`)?.remove();
  }
}
