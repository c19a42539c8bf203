import { fetchPage } from "./live_parts.ts";

/** The tallest field, in lines. */
const MAX_ROWS = 12;

/** Where one writes: keys, names, commands, replies, and sending without another page. */
export class Composer {
  readonly #chat: HTMLElement;
  readonly #form: HTMLFormElement;
  readonly #field: HTMLTextAreaElement;
  readonly #reply: HTMLInputElement;
  readonly #trouble: HTMLElement | null;
  readonly #memory = new ComposerMemory();
  readonly #names: NameCompletion;
  #isSending = false;

  /** @param names names to complete, the likeliest first; one may come twice */
  constructor(chat: HTMLElement, names: () => string[]) {
    this.#chat = chat;
    this.#form = chat.querySelector<HTMLFormElement>(".composer")!;
    this.#field = this.#form.querySelector("textarea")!;
    this.#reply = this.#form.querySelector<HTMLInputElement>("[name=reply]")!;
    this.#trouble = this.#form.querySelector(".composer-trouble");
    this.#names = new NameCompletion(
      this.#field,
      () => [...names(), ...this.#commands(), ...channels()],
    );
    if (this.#field.value === "") this.#field.value = this.#memory.draft;
    this.#field.addEventListener("keydown", (event) => this.#press(event));
    this.#field.addEventListener("input", () => {
      this.#names.end();
      this.#memory.keep(this.#field.value);
      this.#fit();
    });
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#send();
    });
    chat.addEventListener("click", (event) => this.#click(event));
    this.#fit();
    // On a phone, the keyboard would cover half of the messages.
    if (!matchMedia("(pointer: coarse)").matches) this.#field.focus({ preventScroll: true });
  }

  #press(event: KeyboardEvent): void {
    const { key, shiftKey, isComposing } = event;
    if (isComposing) return;
    if (key === "Enter" && !shiftKey) {
      event.preventDefault();
      void this.#send();
    } else if (key === "Tab" && !shiftKey && this.#names.next()) {
      event.preventDefault();
      this.#fit();
    } else if (key === "Escape" && this.#reply.value !== "") {
      event.preventDefault();
      this.#answer(null);
    } else if ((key === "ArrowUp" || key === "ArrowDown") && this.#recall(key)) {
      event.preventDefault();
    }
  }

  /** Takes up what was sent before, from the first line on, or goes on to what was sent later. */
  #recall(key: "ArrowUp" | "ArrowDown"): boolean {
    const { value, selectionStart, selectionEnd } = this.#field;
    const rest = key === "ArrowUp" ? value.slice(0, selectionStart) : value.slice(selectionEnd);
    if (rest.includes("\n")) return false;
    const text = this.#memory.step(key === "ArrowUp" ? -1 : 1, value);
    if (text === null) return false;
    this.#field.value = text;
    this.#field.setSelectionRange(text.length, text.length);
    this.#fit();
    return true;
  }

  /** The commands that one may write here. */
  #commands(): string[] {
    const names = this.#form.querySelectorAll<HTMLElement>("[data-command]");
    return Array.from(names, ({ dataset }) => `/${dataset["command"]}`);
  }

  /** The field grows with what is written. */
  #fit(): void {
    this.#field.rows = 1;
    const { lineHeight, paddingTop, paddingBottom } = getComputedStyle(this.#field);
    const padding = parseFloat(paddingTop) + parseFloat(paddingBottom);
    const rows = Math.round((this.#field.scrollHeight - padding) / parseFloat(lineHeight));
    this.#field.rows = Math.min(Math.max(rows, 1), MAX_ROWS);
    this.#showCommands();
  }

  /** Lists the commands that begin with what is written. */
  #showCommands(): void {
    const [begun = null] = /^\/[a-z]*$/i.exec(this.#field.value) ?? [];
    for (const line of this.#form.querySelectorAll<HTMLElement>("[data-command]")) {
      line.hidden = begun === null ||
        !`/${line.dataset["command"]}`.startsWith(begun.toLowerCase());
    }
    const list = this.#form.querySelector<HTMLElement>(".commands");
    if (list !== null) list.hidden = list.querySelector("[data-command]:not([hidden])") === null;
  }

  #click(event: MouseEvent): void {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const { target } = event;
    if (!(target instanceof Element)) return;
    if (target.closest(".answering a") !== null) {
      event.preventDefault();
      return this.#answer(null);
    }
    const message = target.closest("a.answer")?.closest<HTMLElement>(".message") ?? null;
    if (message === null) return;
    event.preventDefault();
    this.#answer(message);
  }

  /** Makes what is written next an answer to a message, or to none. */
  #answer(message: HTMLElement | null): void {
    this.#reply.value = message?.id.slice("m-".length) ?? "";
    const line = this.#form.querySelector<HTMLElement>(".answering");
    const words = line?.querySelector("bdi");
    if (line && words) {
      line.hidden = message === null;
      const text = message?.querySelector(".text")?.textContent ?? "";
      words.textContent = message === null
        ? ""
        : `${message.dataset["nick"]}: ${text.slice(0, 80)}`;
    }
    this.#field.focus();
  }

  async #send(): Promise<void> {
    if (this.#isSending || this.#field.value.trim() === "") return;
    this.#isSending = true;
    this.#chat.classList.add("sending");
    const body = new URLSearchParams();
    for (const [name, value] of new FormData(this.#form)) body.set(name, String(value));
    const sent = this.#field.value;
    body.set("text", sent.trimEnd());
    try {
      const headers = { accept: "application/json" };
      const response = await fetch(location.pathname, { method: "POST", body, headers });
      if (response.redirected) return location.assign(response.url);
      if (!response.ok) return this.#complain(await this.#refused(response));
      this.#memory.sent(sent.trimEnd());
      if (response.status === 200) {
        const { to }: { readonly to: string } = await response.json();
        return location.assign(to);
      }
      this.#complain("");
      void showEntry(this.#chat);
      // What was written meanwhile stays.
      if (this.#field.value === sent) this.#field.value = "";
      this.#memory.keep(this.#field.value);
      this.#answer(null);
      this.#fit();
    } catch {
      this.#complain("The server cannot be reached. Your text is still here: try again.");
    } finally {
      this.#isSending = false;
      this.#chat.classList.remove("sending");
    }
  }

  /** What the server says about a refused form, whose next sending bears the token of this session. */
  async #refused(response: Response): Promise<string> {
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.querySelector<HTMLInputElement>(".composer [name=csrf]");
    const own = this.#form.querySelector<HTMLInputElement>("[name=csrf]");
    if (fresh !== null && own !== null) own.value = fresh.value;
    return page.querySelector("main .notice.bad[role=alert], main p:not(.soft)")?.textContent
      ?.trim() ||
      `The server refused it (${response.status}).`;
  }

  #complain(words: string): void {
    if (this.#trouble === null) return;
    this.#trouble.textContent = words;
    this.#trouble.hidden = words === "";
  }
}

/** The channels of the sidebar. */
function channels(): string[] {
  const links = document.querySelectorAll<HTMLElement>("#own-channels + ul a");
  return Array.from(links, ({ dataset }) => dataset["place"] ?? "");
}

/** What says whether the reader is in the channel. */
const PARTS = ["[data-membership]", "[data-own-places]"];

/**
 * After what may have been the first message of the reader in a channel: shows that they are in it,
 * beside the channel's name and in the sidebar.
 */
async function showEntry(chat: HTMLElement): Promise<void> {
  const membership = chat.querySelector<HTMLElement>("[data-membership]");
  if (membership?.dataset["membership"] !== "out") return;
  // The page of a channel that nobody was in has neither its messages nor its stream.
  if (chat.dataset["empty"] !== undefined) return location.reload();
  const page = await fetchPage().catch(() => null);
  for (const selector of PARTS) {
    const fresh = page?.querySelector<HTMLElement>(selector) ?? null;
    const part = document.querySelector<HTMLElement>(selector);
    if (fresh !== null && part !== null) part.replaceWith(document.adoptNode(fresh));
  }
}

/** Texts that one can take up again, the newest last. */
const MAX_SENT = 50;

/** What one wrote on a page: a draft, and what was sent. It lasts as long as the browser's tab. */
class ComposerMemory {
  readonly #draftKey = `draft ${location.pathname}`;
  readonly #sentKey = `sent ${location.pathname}`;
  /** The place in what was sent; null outside of it. */
  #place: number | null = null;
  /** What was in the field before one went back. */
  #unsent = "";

  /** The text that was not sent. */
  get draft(): string {
    return sessionStorage.getItem(this.#draftKey) ?? "";
  }

  /** Keeps what is in the field. */
  keep(text: string): void {
    this.#place = null;
    if (text === "") sessionStorage.removeItem(this.#draftKey);
    else sessionStorage.setItem(this.#draftKey, text);
  }

  /** Notes a text that was sent. */
  sent(text: string): void {
    const texts = this.#sent().filter((other) => other !== text);
    sessionStorage.setItem(this.#sentKey, JSON.stringify([...texts, text].slice(-MAX_SENT)));
    this.keep("");
  }

  /**
   * The text before, or after, the one in the field; null at the end.
   *
   * @param now what is in the field
   */
  step(by: -1 | 1, now: string): string | null {
    const texts = this.#sent();
    if (this.#place === null) this.#unsent = now;
    const place = (this.#place ?? texts.length) + by;
    if (place < 0 || place > texts.length) return null;
    this.#place = place;
    return texts[place] ?? this.#unsent;
  }

  #sent(): string[] {
    const stored: unknown = JSON.parse(sessionStorage.getItem(this.#sentKey) ?? "[]");
    return Array.isArray(stored) ? stored.map(String) : [];
  }
}

/** Completes the word before the cursor of a field; the next time, with the next that fits. */
class NameCompletion {
  readonly #field: HTMLTextAreaElement;
  /** The words to complete, the likeliest first; one may come twice. */
  readonly #words: () => string[];
  /** The words that the last Tab could mean, and the one that it wrote. */
  #choice: { readonly start: number; readonly words: string[]; index: number } | null = null;

  constructor(field: HTMLTextAreaElement, words: () => string[]) {
    this.#field = field;
    this.#words = words;
  }

  /** Forgets the last word, because somebody writes on. */
  end(): void {
    this.#choice = null;
  }

  /** @returns whether there is a word that fits */
  next(): boolean {
    const { value, selectionStart: cursor } = this.#field;
    if (this.#choice === null) {
      const start = /(?<![^\s@])[^\s@]*$/.exec(value.slice(0, cursor))?.index ?? cursor;
      const begun = value.slice(start, cursor).toLowerCase();
      if (begun === "") return false;
      const words = [...new Set(this.#words())]
        .filter((word) => word.toLowerCase().startsWith(begun));
      if (words.length === 0) return false;
      this.#choice = { start, words, index: -1 };
    }
    const { start, words } = this.#choice;
    this.#choice.index = (this.#choice.index + 1) % words.length;
    const word = words[this.#choice.index] ?? "";
    const ending = start === 0 && !/^[/#]/.test(word) ? ": " : " ";
    this.#field.setRangeText(word + ending, start, cursor, "end");
    return true;
  }
}
