/** Bounds of the texts in artifacts. The API and the judge of pushes both take them from here. */
import { asLine, isLine, isVisible } from "../../../kernel/words.ts";
import type { Artifact, TagCard } from "./types.ts";

/** The longest texts, in UTF-16 code units. */
export const TEXT_BOUNDS = {
  /** The title of a ticket: one line. */
  title: 500,
  /** A name of a tag, branch, user, page, thread or file, and a word of a ticket: one line. */
  name: 200,
  /** A comment of a check-in, a ticket, a page or an attachment, and the value of a tag. */
  comment: 65_536,
  /** The description of a ticket, and a field of the project's own. */
  field: 100_000,
} as const;

type Bound = keyof typeof TEXT_BOUNDS;

/** A text of an artifact, with what it is and its bound. */
type BoundedText = readonly [what: string, bound: Bound, text: string | null];

const IS_LINE: ReadonlySet<Bound> = new Set(["title", "name"]);
/** Texts that say nothing if they are blank. A ticket without a title has no such field. */
const NEVER_BLANK: ReadonlySet<string> = new Set(["field title", "name of a tag"]);
/** Tags whose value is a name. */
const NAMING: ReadonlySet<string> = new Set(["branch", "user"]);
/** Fields of a ticket that are no free text. */
const TICKET_FIELDS: Readonly<Record<string, Bound>> = {
  title: "title",
  status: "name",
  type: "name",
  severity: "name",
  priority: "name",
  subsystem: "name",
  resolution: "name",
  assignee: "name",
  login: "name",
  mimetype: "name",
  icomment: "comment",
};

/**
 * Why a text of an artifact is beyond its bound, as a clause; null if none is. The names of files
 * have bounds of their own; pages and posts are as long as an artifact may be.
 */
export function textFault(artifact: Artifact): string | null {
  for (const [what, bound, text] of textsOf(artifact)) {
    if (text === null) continue;
    const most = TEXT_BOUNDS[bound];
    if (text.length > most) {
      return `its ${what} has ${text.length} characters, and may have ${most}`;
    }
    if (IS_LINE.has(bound) && !isLine(text)) {
      return `its ${what} must be one line, without control or invisible characters and overrides ` +
        "of the text's direction";
    }
    const isBlank = text.trim() === "";
    if (isBlank && NEVER_BLANK.has(what)) return `its ${what} must not be empty`;
    if (!isBlank && IS_LINE.has(bound) && !isVisible(text)) {
      return `its ${what} must have a character that can be seen`;
    }
  }
  return null;
}

/**
 * A text as it is shown: one from elsewhere may be beyond its bound, and is then cut. What must be one
 * line has spaces in place of other characters.
 */
export function shownText(text: string, bound: Bound): string {
  const most = TEXT_BOUNDS[bound];
  const isCut = text.length > most;
  // A pair of code units stays whole.
  const end = isCut && /[\ud800-\udbff]/.test(text[most - 2] ?? "") ? most - 2 : most - 1;
  const shown = isCut ? `${text.slice(0, end)}…` : text;
  return IS_LINE.has(bound) ? asLine(shown) : shown;
}

function textsOf(artifact: Artifact): BoundedText[] {
  if (artifact.kind === "cluster") return [];
  const user: BoundedText = ["user", "name", artifact.user];
  switch (artifact.kind) {
    case "manifest":
      return [user, ["comment", "comment", artifact.comment], ...artifact.tags.flatMap(textsOfTag)];
    case "control":
      return [user, ...artifact.tags.flatMap(textsOfTag)];
    case "wiki":
      return [user, ["title", "name", artifact.title], ["comment", "comment", artifact.comment]];
    case "technote":
      return [user, ["comment", "comment", artifact.comment], ...artifact.tags.flatMap(textsOfTag)];
    case "attachment":
      return [
        user,
        ["name", "name", artifact.name],
        ["target", "name", artifact.target],
        ["comment", "comment", artifact.comment],
      ];
    case "forum":
      return [user, ["title", "name", artifact.title]];
    case "ticket":
      return [
        user,
        ...artifact.fields.flatMap(({ name, value }): BoundedText[] => [
          ["name of a field", "name", name],
          [
            `field ${name.slice(0, 50)}`,
            Object.hasOwn(TICKET_FIELDS, name) ? TICKET_FIELDS[name]! : "field",
            value,
          ],
        ]),
      ];
  }
}

function textsOfTag({ name, value }: TagCard): BoundedText[] {
  const symbol = name.startsWith("sym-") ? name.slice("sym-".length) : name;
  const shown = symbol.slice(0, 50);
  return [
    ["name of a tag", "name", symbol],
    [`value of the tag ${shown}`, NAMING.has(name) ? "name" : "comment", value],
  ];
}
