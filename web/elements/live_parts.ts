/** How long events are gathered before the page is fetched, in milliseconds. */
const GATHERING = 250;

/** The page is fetched again no sooner than this many times the duration of the last fetch. */
const REST = 10;

/** When to look again whether the person still types, in milliseconds. */
const TYPING = 1000;

/** The parts of a page that are fetched again when an event comes. */
export class LiveParts {
  /** Names of parts that are out of date. */
  readonly #stale = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isFetching = false;
  /** Before this time, nothing is fetched. */
  #notBefore = 0;

  constructor() {
    // What a background page put off is fetched when the person comes back.
    document.addEventListener("visibilitychange", () => this.#plan(GATHERING));
  }

  /** Notes an event by its name. */
  note(event: string): void {
    for (const part of partsOfPage()) {
      const patterns = part.dataset["liveOn"]?.split(/\s+/) ?? [];
      if (patterns.some((pattern) => matches(event, pattern))) this.#add(part);
    }
    this.#plan(GATHERING);
  }

  /** Notes that every part may be out of date. */
  noteAll(): void {
    for (const part of partsOfPage()) this.#add(part);
    this.#plan(GATHERING);
  }

  /** Notes the parts that show work in progress, which has no events. */
  noteRunning(): void {
    for (const part of partsOfPage()) if ("liveRunning" in part.dataset) this.#add(part);
    this.#plan(GATHERING);
  }

  #add(part: HTMLElement): void {
    this.#stale.add(part.dataset["livePart"] ?? "");
  }

  #plan(wait: number): void {
    if (this.#stale.size === 0 || this.#timer !== null || this.#isFetching) return;
    const pause = Math.max(wait, this.#notBefore - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (!document.hidden) void this.#refresh();
    }, pause);
  }

  async #refresh(): Promise<void> {
    const ready = partsOfPage().filter((part) =>
      this.#stale.has(part.dataset["livePart"] ?? "") && !isInUse(part)
    );
    if (ready.length === 0) {
      this.#forgetMissing();
      return this.#plan(TYPING);
    }
    this.#isFetching = true;
    const begin = performance.now();
    for (const part of ready) this.#stale.delete(part.dataset["livePart"] ?? "");
    try {
      const page = await fetchPage();
      for (const part of ready) {
        if (isInUse(part)) this.#add(part);
        else replace(part, page);
      }
    } catch {
      for (const part of ready) this.#add(part);
    } finally {
      const end = performance.now();
      this.#notBefore = end + REST * (end - begin);
      this.#isFetching = false;
      this.#plan(GATHERING);
    }
  }

  /** Forgets parts that another part took along when it was replaced. */
  #forgetMissing(): void {
    const names = new Set(partsOfPage().map((part) => part.dataset["livePart"]));
    for (const name of this.#stale) if (!names.has(name)) this.#stale.delete(name);
  }
}

function partsOfPage(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-live-part]")];
}

/** Whether an event has a name, or one that begins like a pattern with `*` at its end. */
function matches(event: string, pattern: string): boolean {
  return pattern.endsWith("*") ? event.startsWith(pattern.slice(0, -1)) : event === pattern;
}

/** Whether the person types in a part, selects text in it, or has its dialog open. */
function isInUse(part: HTMLElement): boolean {
  const { activeElement } = document;
  const isTyping = part.contains(activeElement) &&
    activeElement?.matches("input, textarea, select, [contenteditable]") === true;
  if (isTyping || part.querySelector("dialog[open]") !== null || hasEntry(part)) return true;
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && part.contains(selection.anchorNode);
}

/** Whether a field of a part holds something that was not there at first. */
function hasEntry(part: HTMLElement): boolean {
  const fields = part.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("input, textarea");
  return [...fields].some((field) =>
    field instanceof HTMLInputElement && /^(?:checkbox|radio)$/.test(field.type)
      ? field.checked !== field.defaultChecked
      : field.value !== field.defaultValue
  );
}

/** Fetches this page again. At the end of the session, the browser goes to the login. */
export async function fetchPage(): Promise<Document> {
  const response = await fetch(location.href, { headers: { accept: "text/html" } });
  if (response.redirected && new URL(response.url).pathname === "/login") {
    location.assign(response.url);
  }
  if (!response.ok) throw new Error(`The page answered ${response.status}`);
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

/** Replaces a part by its new version, and keeps the focus and what is folded out. */
function replace(part: HTMLElement, page: Document): void {
  const name = CSS.escape(part.dataset["livePart"] ?? "");
  const fresh = page.querySelector<HTMLElement>(`[data-live-part="${name}"]`);
  if (fresh === null || !part.isConnected) return;
  if (fresh.isEqualNode(part)) return;
  const focus = placeOfFocus(part);
  const open = new Set([...part.querySelectorAll("details[open] > summary")].map(textOf));
  for (const summary of fresh.querySelectorAll("details:not([open]) > summary")) {
    if (open.has(textOf(summary))) summary.parentElement?.setAttribute("open", "");
  }
  const adopted = document.adoptNode(fresh);
  part.replaceWith(adopted);
  if (focus !== null) focusAgain(adopted, focus);
  adopted.dispatchEvent(new CustomEvent("muster:replaced", { bubbles: true }));
}

function textOf(element: Element): string {
  return element.textContent?.trim() ?? "";
}

/** Where the focus is in a part: the kind of element, what it says and where it leads. */
interface Focus {
  readonly selector: string;
  readonly words: string;
}

function placeOfFocus(part: HTMLElement): Focus | null {
  const { activeElement } = document;
  if (!(activeElement instanceof HTMLElement) || !part.contains(activeElement)) return null;
  const { id, localName } = activeElement;
  const href = activeElement.getAttribute("href");
  if (id !== "") return { selector: `#${CSS.escape(id)}`, words: "" };
  const selector = href === null ? localName : `${localName}[href="${CSS.escape(href)}"]`;
  return { selector, words: textOf(activeElement) };
}

function focusAgain(part: HTMLElement, { selector, words }: Focus): void {
  const same = [...part.querySelectorAll<HTMLElement>(selector)]
    .find((element) => words === "" || textOf(element) === words);
  if (same !== undefined) return same.focus({ preventScroll: true });
  // What had the focus is gone: the keyboard goes on from where it was.
  part.tabIndex = -1;
  part.focus({ preventScroll: true });
}
