/** Patterns of paths: `*` and `?` within a name, `**` for any folders. */

const ANY_FOLDERS = "**";

/** A pattern; one that names a folder means all that is in it. */
export class PathPattern {
  readonly #parts: readonly string[];

  constructor(pattern: string) {
    this.#parts = pattern.split("/").filter((part) => part !== "" && part !== ".");
  }

  /** The folder, or the file, below which everything is that fits; "" for the root. */
  get base(): string {
    const first = this.#parts.findIndex((part) => /[*?]/.test(part));
    return this.#parts.slice(0, first === -1 ? undefined : first).join("/");
  }

  /** @param path without `/` at its ends */
  matches(path: string): boolean {
    const names = path.split("/");
    // Which beginnings of the pattern fit the names so far.
    let fits = this.#closed(new Set([0]));
    for (const name of names) {
      const next = new Set<number>();
      for (const at of fits) {
        const part = this.#parts[at];
        if (part === undefined) next.add(at); // All that is in a folder which fits.
        else if (part === ANY_FOLDERS) next.add(at);
        else if (fitsName(part, name)) next.add(at + 1);
      }
      fits = this.#closed(next);
    }
    return fits.has(this.#parts.length);
  }

  /** Adds what fits if `**` stands for nothing. */
  #closed(fits: Set<number>): Set<number> {
    for (const at of fits) if (this.#parts[at] === ANY_FOLDERS) fits.add(at + 1);
    return fits;
  }
}

/** Whether a name fits a part of a pattern; of its `*`, the last one alone is tried again. */
function fitsName(part: string, name: string): boolean {
  let at = 0;
  let star = -1;
  let retry = 0;
  let index = 0;
  while (index < name.length) {
    if (part[at] === "*") {
      star = at++;
      retry = index;
    } else if (part[at] === "?" || part[at] === name[index]) {
      at++;
      index++;
    } else if (star !== -1) {
      at = star + 1;
      index = ++retry;
    } else return false;
  }
  while (part[at] === "*") at++;
  return at === part.length;
}
