import { showEntry } from "./chat_entry.ts";
import { ComposerMemory } from "./composer_memory.ts";
import { NameCompletion } from "./composer_names.ts";

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
