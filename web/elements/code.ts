/** Code: chosen lines are marked and part of the address, and late syntax is fetched. */
export function startCode(): void {
  const lines = document.querySelector<HTMLElement>("[data-lines]");
  if (lines === null) return;
  void fetchSyntax();
  markChosen(true);
  addEventListener("hashchange", () => markChosen(false));
  lines.addEventListener("click", (event) => choose(event));
}

/** The first and the last chosen line of the address, such as `#L10-L20`. */
function chosen(): readonly [number, number] | null {
  const match = /^#L(\d{1,9})(?:-L(\d{1,9}))?$/.exec(location.hash);
  if (match === null) return null;
  const [first, last] = [Number(match[1]), Number(match[2] ?? match[1])];
  return first <= last ? [first, last] : [last, first];
}

function markChosen(mayScroll: boolean): void {
  for (const row of document.querySelectorAll("[data-lines] .chosen")) {
    row.classList.remove("chosen");
  }
  const range = chosen();
  if (range === null) return;
  const [first, last] = range;
  for (let line = first; line <= Math.min(last, first + 5000); line++) {
    document.getElementById(`L${line}`)?.classList.add("chosen");
  }
  const start = document.getElementById(`L${first}`);
  if (start === null) openPart(first);
  else if (mayScroll && first !== last) start.scrollIntoView({ block: "center" });
}

/** Loads the part of a long file that has a line. */
function openPart(line: number): void {
  const url = new URL(location.href);
  if (url.searchParams.has("line") || document.querySelector("[data-lines] tr") === null) return;
  url.searchParams.set("line", String(line));
  url.hash = "";
  location.replace(url);
}

/** A click on a number chooses its line; with the shift key, the lines up to it. */
function choose(event: MouseEvent): void {
  const link = (event.target as Element).closest<HTMLAnchorElement>("a[data-n]");
  const range = chosen();
  if (link === null || range === null || !event.shiftKey) return;
  event.preventDefault();
  const line = Number(link.dataset["n"]);
  const [first, last] = line < range[0] ? [line, range[0]] : [range[0], line];
  history.replaceState(null, "", `#L${first}-L${last}`);
  markChosen(false);
}

/** Fetches the page again once its syntax is ready, and takes the code from it. */
async function fetchSyntax(): Promise<void> {
  const late = document.querySelectorAll<HTMLElement>("[data-late-syntax]");
  if (late.length === 0) return;
  const url = new URL(location.href);
  url.searchParams.set("wait", "1");
  const response = await fetch(url).catch(() => null);
  if (response?.ok !== true) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page.querySelectorAll("[data-lines] td.code");
  const shown = document.querySelectorAll("[data-lines] td.code");
  if (fresh.length !== shown.length) return;
  shown.forEach((cell, index) => cell.replaceWith(fresh[index] ?? cell));
}
