import { arrange, messagesIn } from "./chat_arrange.ts";
import type { SentMessage } from "./sent_message.ts";
import { answerTo, colorOf, countOf, linkTo } from "./chat_rules.ts";
import { exactly, validTime } from "./time_ago.ts";

/**
 * Messages on the page. Those at the end that the reader does not look at leave it for others, and
 * come back when the reader does.
 */
const MAX_MESSAGES = 500;

/** So near to the end, in pixels, the reader follows what comes. */
const NEAR = 40;

/** So near to an end, in pixels, more messages are fetched. */
const EARLY = 600;

/** What the log tells. */
export interface ChatLogEvents {
  /** The reader has come to the newest message, whose page names this stream. */
  newest(live: string): void;
  /** A message that names the reader came, and nobody looks. */
  called(nick: string, text: string): void;
}

/**
 * The messages on the page. New ones are added once in a frame; the reader stays where they read,
 * or at the end.
 */
export class ChatLog {
  readonly #chat: HTMLElement;
  readonly #scroller: HTMLElement;
  readonly #list: HTMLElement;
  readonly #template: HTMLTemplateElement;
  readonly #own: string;
  readonly #events: ChatLogEvents;
  readonly #jump: ChatJump;
  readonly #ids = new Set<string>();
  #waiting: HTMLElement[] = [];
  #isFetching = false;

  constructor(chat: HTMLElement, own: string, events: ChatLogEvents) {
    this.#chat = chat;
    this.#scroller = chat.querySelector<HTMLElement>(".chat-log")!;
    this.#list = chat.querySelector<HTMLElement>(".messages")!;
    this.#template = chat.querySelector<HTMLTemplateElement>("template[data-message]")!;
    this.#own = own;
    this.#events = events;
    this.#jump = new ChatJump(chat, () => this.#hasNewest);
    for (const { id } of this.#messages()) this.#ids.add(id);
    this.#arrange();
    this.#scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.#list.addEventListener("click", (event) => this.#follow(event));
    if (location.search.includes("at=")) this.#showTarget();
    this.#scrolled();
  }

  /** The time of the newest message; null without one, and where newer ones are not on the page. */
  get newest(): string | null {
    if (!this.#hasNewest) return null;
    return (this.#waiting.at(-1) ?? this.#messages().at(-1))?.dataset["at"] ?? null;
  }

  /** Whether the reader sees the end. */
  get isAtEnd(): boolean {
    // The end is the origin of a column in reverse.
    return Math.abs(this.#scroller.scrollTop) < NEAR;
  }

  /** Who spoke, the last first. */
  *speakers(): Iterable<string> {
    for (const { dataset } of this.#messages().reverse()) {
      if (dataset["nick"] !== undefined) yield dataset["nick"];
    }
  }

  /** Adds a message; false if it is there already. */
  add(id: string, message: SentMessage): boolean {
    const key = `m-${id}`;
    if (this.#ids.has(key)) return false;
    // Newer messages than those on the page are fetched when the reader scrolls to them.
    if (!this.#hasNewest && !this.#isFetching) {
      this.#jump.note();
      return true;
    }
    this.#ids.add(key);
    this.#waiting.push(drawMessage(this.#template, id, message));
    if (this.#waiting.length > 1) return true;
    // A page in the background gets no frames.
    if (document.hidden) setTimeout(() => this.#flush());
    else requestAnimationFrame(() => this.#flush());
    return true;
  }

  /** Whether the newest message is on the page. */
  get #hasNewest(): boolean {
    return this.#newerLink() === null && this.#chat.dataset["past"] === undefined;
  }

  #flush(): void {
    // What comes while newer messages are fetched follows them.
    if (this.#isFetching && !this.#hasNewest) return;
    const fresh = this.#waiting;
    this.#waiting = [];
    if (fresh.length === 0) return;
    if (!this.#hasNewest) {
      for (const { id } of fresh) this.#ids.delete(id);
      return this.#jump.note(fresh.length);
    }
    const follows = this.isAtEnd;
    this.#atEnd(() => {
      if (document.hidden && this.#list.querySelector(".unread") === null) this.#divide(fresh);
      else this.#list.append(...fresh);
      this.#list.parentElement?.parentElement?.querySelector(":scope > .empty")?.remove();
      this.#arrange();
    });
    if (document.hidden) this.#call(fresh);
    if (follows) {
      this.#dropFirst();
      this.#scroller.scrollTop = 0;
    } else {
      this.#jump.note(fresh.length);
    }
  }

  /** Changes what is at the end; the reader keeps seeing the same messages. */
  #atEnd(change: () => void): void {
    const { scrollHeight, scrollTop } = this.#scroller;
    change();
    // In a column in reverse, what is added at the end pushes the rest up.
    this.#scroller.scrollTop = scrollTop - (this.#scroller.scrollHeight - scrollHeight);
  }

  /** Tells of messages that name a reader who does not look. */
  #call(fresh: readonly HTMLElement[]): void {
    for (const element of fresh) {
      if (!element.classList.contains("me")) continue;
      const text = element.querySelector(".text")?.textContent ?? "";
      this.#events.called(element.dataset["nick"] ?? "", text);
    }
  }

  /** Adds messages below a line that says that they are new. */
  #divide(fresh: readonly HTMLElement[]): void {
    const first = fresh.findIndex(({ dataset }) => dataset["nick"] !== this.#own);
    if (first === -1) return this.#list.append(...fresh);
    const line = document.createElement("li");
    line.className = "unread";
    line.textContent = "New messages";
    this.#list.append(...fresh.slice(0, first), line, ...fresh.slice(first));
  }

  #messages(): HTMLElement[] {
    return messagesIn(this.#list);
  }

  #arrange(): void {
    arrange(this.#list, this.#own);
  }

  /** Drops the oldest messages beyond the most that the page holds. */
  #dropFirst(): void {
    const surplus = this.#messages().slice(0, -MAX_MESSAGES);
    if (surplus.length === 0) return;
    this.#drop(surplus);
    if (this.#list.firstElementChild?.classList.contains("day") === false) this.#arrange();
    const oldest = this.#messages()[0]?.dataset["at"];
    if (oldest !== undefined) this.#linkOlder(`?before=${encodeURIComponent(oldest)}`);
  }

  /** Drops the newest messages beyond the most that the page holds, which are far out of sight. */
  #dropLast(): void {
    const messages = this.#messages();
    const surplus = messages.slice(MAX_MESSAGES);
    const last = messages[MAX_MESSAGES - 1]?.dataset["at"];
    if (surplus.length === 0 || last === undefined) return;
    this.#atEnd(() => {
      this.#drop(surplus);
      while (this.#list.lastElementChild?.matches(".day, .unread")) {
        this.#list.lastElementChild.remove();
      }
      this.#linkNewer(`?after=${encodeURIComponent(last)}`);
    });
  }

  #drop(surplus: readonly HTMLElement[]): void {
    for (const element of surplus) {
      this.#ids.delete(element.id);
      element.remove();
    }
  }

  #olderLink(): HTMLAnchorElement | null {
    return this.#scroller.querySelector<HTMLAnchorElement>("a.older");
  }

  #newerLink(): HTMLAnchorElement | null {
    return this.#scroller.querySelector<HTMLAnchorElement>(".newer a[rel=next]");
  }

  /** Leads to what is older than the page. */
  #linkOlder(href: string): void {
    const link = this.#olderLink() ?? document.createElement("a");
    link.href = location.pathname + href;
    if (link.isConnected) return;
    link.className = "older";
    link.rel = "prev";
    link.textContent = "Older messages";
    this.#scroller.firstElementChild?.prepend(link);
  }

  /** Leads to what is newer than the page. */
  #linkNewer(href: string): void {
    const link = this.#newerLink() ?? document.createElement("a");
    link.href = location.pathname + href;
    if (link.isConnected) return;
    link.rel = "next";
    link.textContent = "Newer messages";
    const line = document.createElement("p");
    line.className = "row newer";
    line.append(link);
    this.#scroller.firstElementChild?.append(line);
  }

  #scrolled(): void {
    const { scrollHeight, clientHeight, scrollTop } = this.#scroller;
    this.#jump.show(this.isAtEnd);
    if (this.#isFetching || location.search.includes("q=")) return;
    const below = Math.abs(scrollTop);
    const above = scrollHeight - clientHeight - below;
    const [older, newer] = [this.#olderLink(), this.#newerLink()];
    if (above < EARLY && older !== null) void this.#fetch(older, (page) => this.#addOlder(page));
    else if (below < EARLY && newer !== null) {
      void this.#fetch(newer, (page) => this.#addNewer(page));
    }
  }

  /** Adds the messages of a linked page to those that are here. */
  async #fetch(link: HTMLAnchorElement, add: (page: Document) => boolean): Promise<void> {
    this.#isFetching = true;
    let hasMore = false;
    try {
      const response = await fetch(link.href);
      if (!response.ok || response.redirected) return;
      hasMore = add(new DOMParser().parseFromString(await response.text(), "text/html"));
    } catch {
      // The link is still there, and leads to the same messages.
    } finally {
      this.#isFetching = false;
    }
    this.#flush();
    if (hasMore) this.#scrolled();
  }

  #messagesOf(page: Document): HTMLElement[] {
    const found = [...page.querySelectorAll<HTMLElement>(".messages > .message")]
      .filter(({ id }) => !this.#ids.has(id));
    for (const { id } of found) this.#ids.add(id);
    return found.map((element) => document.adoptNode(element));
  }

  #addOlder(page: Document): boolean {
    const older = this.#messagesOf(page);
    this.#list.prepend(...older);
    const next = page.querySelector("a.older")?.getAttribute("href");
    if (!next || older.length === 0) this.#olderLink()?.remove();
    else this.#linkOlder(new URL(next, location.href).search);
    this.#arrange();
    this.#dropLast();
    return older.length > 0;
  }

  #addNewer(page: Document): boolean {
    const next = page.querySelector(".newer a[rel=next]")?.getAttribute("href");
    this.#atEnd(() => {
      this.#list.append(...this.#messagesOf(page));
      if (next) this.#linkNewer(new URL(next, location.href).search);
      else this.#newerLink()?.closest(".newer")?.remove();
      if (!next) delete this.#chat.dataset["past"];
      this.#arrange();
    });
    this.#dropFirst();
    const { live } = page.body.dataset;
    if (!next && live !== undefined) this.#events.newest(live);
    return true;
  }

  /** Goes to an answered message that is on the page without loading another page. */
  #follow(event: MouseEvent): void {
    const link = (event.target as Element).closest<HTMLElement>("[data-answers]");
    const answered = link && document.getElementById(`m-${link.dataset["answers"]}`);
    if (!answered) return;
    event.preventDefault();
    show(answered);
  }

  #showTarget(): void {
    const at = new URL(location.href).searchParams.get("at");
    const element = at === null ? null : document.getElementById(`m-${at}`);
    if (element !== null) show(element);
  }
}

function show(element: HTMLElement): void {
  for (const other of document.querySelectorAll(".message.shown")) other.classList.remove("shown");
  element.classList.add("shown");
  element.scrollIntoView({ block: "center" });
}

/** The ways to the newest message, and to the first that the reader has not read. */
class ChatJump {
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

/**
 * Draws a message that came over the stream, from the page's template of one. What somebody wrote
 * only becomes text and values of attributes.
 *
 * @param template a message with every part that one can have
 */
function drawMessage(
  template: HTMLTemplateElement,
  id: string,
  message: SentMessage,
): HTMLElement {
  const { nick, at, text = "", html, agent, program, action, operator, reply } = message;
  const drawn = document.importNode(template.content, true).firstElementChild as HTMLElement;
  const part = <Kind extends HTMLElement>(selector: string) => drawn.querySelector<Kind>(selector)!;
  drawn.id = `m-${id}`;
  drawn.classList.toggle("action", action ?? false);
  drawn.dataset["at"] = at;
  drawn.dataset["nick"] = nick;
  if (program) drawn.dataset["program"] = "";
  else delete drawn.dataset["program"];
  const link = part<HTMLAnchorElement>(".at");
  link.setAttribute("href", linkTo(id));
  link.title = exactly(at);
  part<HTMLTimeElement>("time").dateTime = validTime(at);
  const name = part<HTMLAnchorElement>(".nick");
  name.className = `nick color-${colorOf(nick)}`;
  name.setAttribute("href", `/messages/${encodeURIComponent(nick)}`);
  part(".nick bdi").textContent = nick;
  if (!agent) drawn.querySelector(".who .icon")?.remove();
  if (!operator) part(".via").remove();
  const quoted = part<HTMLAnchorElement>(".quoted");
  if (reply === undefined) quoted.remove();
  else {
    quoted.setAttribute("href", linkTo(reply));
    quoted.dataset["answers"] = reply;
  }
  const said = part(".text");
  if (html === undefined) said.textContent = text;
  else said.innerHTML = html;
  const answer = part<HTMLAnchorElement>(".answer");
  answer.setAttribute("href", answerTo(id));
  answer.setAttribute("aria-label", `Reply to ${nick}`);
  return drawn;
}
