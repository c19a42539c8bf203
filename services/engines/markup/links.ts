/** Links in a project's texts: to its pages, tickets and check-ins, and to people. */

/** The targets of one text's references. Plain data, because it goes to a worker. */
export interface Links {
  /** The prefix of the project's pages, such as `/projects/website`. */
  readonly base: string;
  /** The addresses of references, by their spelling in the text, such as `@ann`. */
  readonly known: Readonly<Record<string, string>>;
}

/** References are found in so much of a text, in UTF-16 units; later ones stay text. */
const MAX_SEARCHED = 1_048_576;
/** Most references of one text that are resolved. */
const MAX_REFERENCES = 500;

/** `[target]` or `[target|label]`, `(target)` of a link of Markdown, `@name`, `#ticket`. */
const REFERENCES =
  /\[([^[\]\n|]{1,200})[|\]]|\]\(([^()\s]{1,200})\)|(?<![\w/@&.-])@([\w[\]\\`^{|}-]{1,64})|(?<![\w/#&])#([0-9a-f]{4,64}|[1-9][0-9]{0,2})\b/g;

/** The possible references in a text, each once: pages, hashes, `@name` and `#ticket`. */
export function referencesIn(text: string): string[] {
  const found = new Set<string>();
  for (
    const [, bracketed, target, name, ticket] of text.slice(0, MAX_SEARCHED).matchAll(REFERENCES)
  ) {
    if (bracketed !== undefined) found.add(bracketed.trim());
    else if (target !== undefined) found.add(target);
    else if (name !== undefined) found.add(`@${name}`);
    else if (ticket !== undefined) found.add(`#${ticket}`);
    if (found.size >= MAX_REFERENCES) break;
  }
  return [...found];
}

/** Paths of the `fossil` program's pages, with the paths of the same pages here. */
const FOSSIL_PATHS: readonly (readonly [RegExp, string])[] = [
  [/^\/(?:info|vinfo|ci)\/([^?#]+)$/, "checkin/"],
  [/^\/tktview(?:\/|\?name=)([^&#]+)$/, "tickets/"],
  [/^\/wiki(?:\/|\?name=)([^&#]+)$/, "wiki/"],
  [/^\/timeline(?:$|[?#])/, "timeline"],
];

/** Schemes that a link may have. */
export const SCHEMES = ["http", "https", "mailto", "ftp", "irc", "ircs"];

/** The address of a link's target; null if it is not a valid target. */
export function addressOf(target: string, { base, known }: Links): string | null {
  const trimmed = target.trim();
  const there = Object.hasOwn(known, trimmed) ? known[trimmed] : undefined;
  if (there !== undefined) return there;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(trimmed)?.[1]?.toLowerCase();
  if (scheme === "wiki") return pageAddress(base, trimmed.slice("wiki:".length));
  if (scheme !== undefined) return SCHEMES.includes(scheme) ? trimmed : null;
  if (trimmed.startsWith("#")) return trimmed;
  if (!trimmed.startsWith("/") || trimmed.startsWith("//")) return null;
  for (const [pattern, path] of FOSSIL_PATHS) {
    const match = pattern.exec(trimmed);
    if (match !== null) return `${base}/${path}${match[1] ?? ""}`;
  }
  return base + trimmed;
}

/** The address of a wiki page. */
export function pageAddress(base: string, name: string): string {
  return `${base}/wiki/${encodeURIComponent(name).replaceAll("%2F", "/")}`;
}
