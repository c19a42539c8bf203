import { fetchPage } from "./live_parts.ts";
import { lengthOf, piecesOf } from "./log_lines.ts";
import type { SentLine } from "./sent_line.ts";
import { appendText } from "./shown_text.ts";

/** So near to an end, in pixels, more lines are fetched, and so near to the end the reader follows. */
const EARLY = 600;
const NEAR = 40;

/** Lines on the page: while the reader follows, older ones leave it; beyond these, none is fetched. */
const MAX_FOLLOWED = 3000;
const MAX_FETCHED = 10_000;

/** A log of a job: lines come while it runs, and are fetched where the reader scrolls to. */
export function startLog(): void {
  const scroller = document.querySelector<HTMLElement>("[data-log]");
  if (scroller !== null) new JobLog(scroller);
}

class JobLog {
  readonly #scroller: HTMLElement;
  #source: EventSource | null = null;
  #waiting: SentLine[] = [];
  #isFetching = false;

  constructor(scroller: HTMLElement) {
    this.#scroller = scroller;
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    document.addEventListener("visibilitychange", () => this.#follow());
    addEventListener("pagehide", () => this.#close());
    addEventListener("pageshow", () => this.#follow());
    // The job has begun, or begins again elsewhere: that is another log.
    addEventListener("muster:replaced", ({ target }) => {
      const lease = (target as Element).querySelector<HTMLElement>("[data-lease]")
        ?.dataset["lease"];
      if (lease !== undefined && lease !== scroller.dataset["lease"]) location.reload();
    });
    this.#follow();
  }

  get #body(): HTMLElement {
    return this.#scroller.querySelector<HTMLElement>(".log-body")!;
  }

  /** Follows the log while the page is seen, has its end, and the job runs. */
  #follow(): void {
    const { live } = this.#scroller.dataset;
    if (document.hidden || live === undefined) return this.#close();
    if (this.#source !== null) return;
    const source = new EventSource(`${live}?after=${this.#last}`);
    this.#source = source;
    source.onmessage = ({ data }) => {
      this.#waiting.push(...JSON.parse(data) as SentLine[]);
      requestAnimationFrame(() => this.#flush());
    };
    source.addEventListener("gap", () => void this.#fetchEnd());
    source.addEventListener("end", () => {
      delete this.#scroller.dataset["live"];
      this.#close();
    });
    source.onerror = () => {
      // The browser comes back by itself from a cut connection, and not from a refusal.
      if (source.readyState === EventSource.CLOSED) this.#source = null;
    };
  }

  #close(): void {
    this.#source?.close();
    this.#source = null;
  }

  /** The number of the last line on the page. */
  get #last(): number {
    return Number(
      [...this.#body.querySelectorAll<HTMLElement>("[data-n]")].at(-1)?.dataset["n"] ?? 0,
    );
  }

  #flush(): void {
    const last = this.#last;
    const lines = this.#waiting.filter(([number]) => number > last);
    this.#waiting = [];
    if (lines.length === 0) return;
    const { scrollHeight, scrollTop } = this.#scroller;
    // The end is the origin of a column in reverse.
    const follows = Math.abs(scrollTop) < NEAR;
    for (const line of lines) this.#append(line);
    if (follows) this.#dropFirst();
    this.#scroller.scrollTop = follows
      ? 0
      : scrollTop - (this.#scroller.scrollHeight - scrollHeight);
  }

  #append(line: SentLine): void {
    const [, at, stream] = line;
    if (stream === "command") {
      this.#endCommand(at);
      const part = document.createElement("details");
      part.className = "log-part";
      part.open = true;
      part.append(commandOf(line));
      this.#body.append(part);
      return;
    }
    rowsOf(this.#lastPart()).append(rowOf(line));
  }

  /** Says how long the last command took. */
  #endCommand(at: number): void {
    const summary = lastOf(this.#body, "summary");
    if (summary === undefined) return;
    const took = document.createElement("span");
    took.className = "soft small";
    took.textContent = lengthOf(at - Number(summary.dataset["at"]));
    summary.append(took);
  }

  #lastPart(): HTMLElement {
    const last = lastOf(this.#body, ".log-part");
    if (last !== undefined) return last;
    const part = document.createElement("div");
    part.className = "log-part";
    this.#body.append(part);
    return part;
  }

  #dropFirst(): void {
    const rows = [...this.#body.querySelectorAll("tr")];
    const surplus = rows.slice(0, -MAX_FOLLOWED);
    if (surplus.length === 0) return;
    for (const row of surplus) row.remove();
    const part = this.#body.querySelector("tr")?.closest(".log-part");
    while (part?.previousElementSibling) part.previousElementSibling.remove();
    if (part?.querySelector("summary")) {
      const rest = document.createElement("div");
      rest.className = "log-part";
      rest.append(...part.querySelectorAll("table"));
      part.replaceWith(rest);
    }
    const first = this.#body.querySelector<HTMLElement>("[data-n]")?.dataset["n"];
    if (first !== undefined) this.#link("earlier", `?before=${first}`);
  }

  #linkTo(name: string): HTMLAnchorElement | null {
    return this.#body.querySelector<HTMLAnchorElement>(`a.${name}`);
  }

  /** Leads to the lines before those of the page. */
  #link(name: string, search: string): void {
    const link = this.#linkTo(name) ?? document.createElement("a");
    link.href = location.pathname + search;
    if (link.isConnected) return;
    link.className = name;
    link.textContent = "Earlier lines";
    this.#body.prepend(link);
  }

  #scrolled(): void {
    if (this.#isFetching || this.#body.querySelectorAll("tr").length > MAX_FETCHED) return;
    const { scrollHeight, clientHeight, scrollTop } = this.#scroller;
    const below = Math.abs(scrollTop);
    const earlier = this.#linkTo("earlier");
    const later = this.#linkTo("later");
    if (scrollHeight - clientHeight - below < EARLY && earlier !== null) {
      void this.#fetch(earlier, (page) => this.#addEarlier(earlier, page));
    } else if (below < EARLY && later !== null) {
      void this.#fetch(later, (page) => this.#addLater(later, page));
    }
  }

  async #fetch(link: HTMLAnchorElement, add: (log: HTMLElement) => void): Promise<void> {
    this.#isFetching = true;
    try {
      const response = await fetch(link.href);
      if (!response.ok || response.redirected) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const log = page.querySelector<HTMLElement>("[data-log]");
      if (log !== null) add(document.adoptNode(log));
    } catch {
      // The link is still there, and leads to the same lines.
    } finally {
      this.#isFetching = false;
    }
  }

  #addEarlier(link: HTMLAnchorElement, log: HTMLElement): void {
    const next = log.querySelector("a.earlier");
    const parts = [...log.querySelectorAll<HTMLElement>(".log-part")];
    join(parts.at(-1), this.#body.querySelector<HTMLElement>(".log-part"));
    link.after(...parts);
    if (next === null) link.remove();
    else link.replaceWith(next);
  }

  #addLater(link: HTMLAnchorElement, log: HTMLElement): void {
    const { scrollHeight, scrollTop } = this.#scroller;
    const next = log.querySelector("a.later");
    const parts = [...log.querySelectorAll<HTMLElement>(".log-part")];
    join(lastOf(this.#body, ".log-part"), parts[0]);
    link.before(...parts.filter((part) => part.hasChildNodes()));
    if (next === null) link.remove();
    else link.replaceWith(next);
    this.#scroller.scrollTop = scrollTop - (this.#scroller.scrollHeight - scrollHeight);
    const { live } = log.dataset;
    if (next !== null || live === undefined) return;
    this.#scroller.dataset["live"] = live;
    this.#follow();
  }

  /** Shows the end of the log in place of what the page has: too many lines came meanwhile. */
  async #fetchEnd(): Promise<void> {
    const page = await fetchPage().catch(() => null);
    const body = page?.querySelector("[data-log] .log-body");
    if (!body) return;
    this.#body.replaceWith(document.adoptNode(body));
    this.#scroller.scrollTop = 0;
  }
}

function lastOf(element: Element, selector: string): HTMLElement | undefined {
  return [...element.querySelectorAll<HTMLElement>(selector)].at(-1);
}

/** The rows of a part, whose table is made for its first row. */
function rowsOf(part: HTMLElement): HTMLElement {
  const rows = part.querySelector<HTMLElement>("tbody");
  if (rows !== null) return rows;
  const table = document.createElement("table");
  table.className = "code-lines";
  part.append(table);
  return table.createTBody();
}

/** Moves the rows of a part that has no command of its own to the part before it. */
function join(part: HTMLElement | undefined, rest: HTMLElement | null | undefined): void {
  if (part === undefined || !rest || rest.querySelector("summary") !== null) return;
  rowsOf(part).append(...rest.querySelectorAll("tr"));
  rest.remove();
}

/** A command as the server draws it. */
function commandOf([number, at, , text]: SentLine): HTMLElement {
  const summary = document.createElement("summary");
  summary.id = `L${number}`;
  summary.dataset["at"] = String(at);
  const place = document.createElement("span");
  place.className = "num";
  place.dataset["n"] = String(number);
  const code = document.createElement("code");
  appendPieces(code, text);
  summary.append(place, code);
  return summary;
}

/** A line as the server draws it. */
function rowOf([number, at, stream, text]: SentLine): HTMLElement {
  const row = document.createElement("tr");
  row.id = `L${number}`;
  if (stream === "note") row.className = "note";
  const place = row.insertCell();
  place.className = "num";
  place.title = lengthOf(at);
  const link = document.createElement("a");
  link.href = `#L${number}`;
  link.dataset["n"] = String(number);
  link.ariaLabel = `Line ${number}`;
  link.tabIndex = -1;
  place.append(link);
  const code = row.insertCell();
  code.className = "code";
  appendPieces(code, text);
  return row;
}

function appendPieces(element: HTMLElement, text: string): void {
  for (const { text: shown, look } of piecesOf(text)) {
    if (look === "") appendText(element, shown);
    else {
      const piece = document.createElement("span");
      piece.className = look;
      appendText(piece, shown);
      element.append(piece);
    }
  }
}
