import { unescaped } from "../../services/engines/markup/mod.ts";
import type { ProjectAddresses } from "../addresses.ts";
import { firstLine } from "./files.tsx";

/** An event of a project, as the engine tells it. */
interface Told {
  readonly kind: "checkin" | "wiki" | "ticket" | "technote" | "forum" | "tag";
  readonly uuid: string;
  readonly comment: string;
}

/** An event as a list shows it. */
interface ActivityWords {
  readonly words: string;
  /** The page about it; null if there is none. */
  readonly target: string | null;
}

/** Longest sentence about an event, in characters. */
const MAX_WORDS = 300;

/**
 * What happened, in words for people. The engine writes its sentences in the markup of its own
 * wiki: `New ticket [0495fb8b|0495] <i>Title</i>.`, and for a page only a sign and its name.
 */
export function activityWords(to: ProjectAddresses, event: Told): ActivityWords {
  const { words, target } = told(to, event);
  return { words: words.slice(0, MAX_WORDS), target };
}

function told(to: ProjectAddresses, { kind, uuid, comment }: Told): ActivityWords {
  const line = firstLine(comment);
  const [, named = ""] = /\[([0-9a-f]{6,64})[|\]]/.exec(line) ?? [];
  switch (kind) {
    case "checkin":
      return { words: line, target: to.checkin(uuid) };
    case "wiki":
      return ofWiki(to, line);
    case "ticket":
      return { words: withoutMarkup(line), target: named === "" ? null : to.ticket(named) };
    case "tag":
      return { words: withoutLinks(line), target: named === "" ? null : to.checkin(named) };
    case "forum":
      return { words: line, target: to.at(`/forum/${uuid}`) };
    case "technote":
      return { words: line, target: to.technote(uuid) };
  }
}

/** What the sign before the name of a page says. */
const PAGE_SIGNS: ReadonlyMap<string, string> = new Map([
  ["+", "New page"],
  [":", "Changed page"],
  ["-", "Deleted page"],
]);

function ofWiki(to: ProjectAddresses, line: string): ActivityWords {
  const sign = PAGE_SIGNS.get(line.slice(0, 1));
  if (sign !== undefined) {
    const name = line.slice(1);
    // Of a deleted page, only the history is left.
    const target = line.startsWith("-") ? `${to.wiki(name)}?view=history` : to.wiki(name);
    return { words: `${sign} “${name}”`, target };
  }
  const [, page] = / (?:to|from) wiki page \[([^[\]]+)\]$/.exec(line) ?? [];
  return { words: withoutLinks(line), target: page === undefined ? null : to.wiki(page) };
}

/** The words of `[target|words]`, and of `[words]`. */
function withoutLinks(line: string): string {
  return line.replace(/\[(?:[^[\]|]*\|)?([^[\]|]*)\]/g, "$1");
}

/** A sentence about a ticket. Its title stands in `<i>`, escaped, and stays as its author wrote it. */
function withoutMarkup(line: string): string {
  return line.split(/(<i>[^<]*<\/i>)/).map((part) => {
    const [, title] = /^<i>(.*)<\/i>$/.exec(part) ?? [];
    return title === undefined ? withoutLinks(part) : `“${unescaped(title)}”`;
  }).join("");
}
