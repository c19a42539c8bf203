import { countOf } from "./chat_rules.ts";

/** The ways to the newest message, and to the first that the reader has not read. */
export class ChatJump {
  readonly #toNewest: HTMLAnchorElement | null;
  readonly #toUnread: HTMLAnchorElement | null;
  readonly #hasNewest: () => boolean;
  /** Messages that came while the reader looked at earlier ones. */
  #missed = 0;

  /** @param hasNewest whether the newest message is on the page */
  constructor(chat: HTMLElement, hasNewest: () => boolean) {
    this.#toNewest = chat.querySelector<HTMLAnchorElement>(".to-newest");
    this.#toUnread = chat.querySelector<HTMLAnchorElement>(".to-unread");
    this.#hasNewest = hasNewest;
    const scroller = chat.querySelector<HTMLElement>(".chat-log");
    this.#toNewest?.addEventListener("click", (event) => {
      if (!this.#hasNewest() || scroller === null) return;
      event.preventDefault();
      scroller.scrollTop = 0;
      scroller.focus({ preventScroll: true });
    });
    const first = chat.querySelector<HTMLElement>("#unread");
    this.#toUnread?.addEventListener("click", (event) => {
      event.preventDefault();
      first?.scrollIntoView({ block: "start" });
      scroller?.focus({ preventScroll: true });
    });
    if (first === null || scroller === null) return;
    new IntersectionObserver(([entry]) => {
      if (this.#toUnread === null || entry === undefined) return;
      const isAbove = entry.boundingClientRect.top < (entry.rootBounds?.top ?? 0);
      this.#toUnread.hidden = entry.isIntersecting || !isAbove;
    }, { root: scroller }).observe(first);
  }

  /** Counts messages that came out of sight. */
  note(count = 1): void {
    this.#missed += count;
    this.show(false);
  }

  /** Shows the way to the newest message, unless the reader is there. */
  show(isAtEnd: boolean): void {
    const isThere = isAtEnd && this.#hasNewest();
    if (isThere) this.#missed = 0;
    if (this.#toNewest === null) return;
    this.#toNewest.hidden = isThere;
    const count = this.#toNewest.querySelector("[data-missed]");
    if (count === null) return;
    count.textContent = this.#missed === 0 ? "" : `${countOf(this.#missed)} new`;
  }
}
