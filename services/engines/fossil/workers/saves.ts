/** Writes that answer with what is there afterwards, so that nobody has to ask for it. */
import { readLatestWikiVersion, readTechnote, readTicket, readWikiPage } from "../read/mod.ts";
import type { TechnotePage, Ticket, WikiPage, WikiVersion } from "../read/shapes.ts";
import {
  type NewTechnote,
  type NewTicketChange,
  type NewWiki,
  writeTechnote,
  writeTicketChange,
  writeWiki,
} from "../write/mod.ts";
import type { Context } from "./context.ts";

/** Writes a change of a ticket; returns the ticket. */
export function saveTicket({ repository, reader }: Context, change: NewTicketChange): Ticket {
  return readTicket(reader, writeTicketChange(repository, change).ticket);
}

/** Writes a version of a technote; returns the note. */
export function saveTechnote({ repository, reader }: Context, note: NewTechnote): TechnotePage {
  return readTechnote(reader, writeTechnote(repository, note).id);
}

/** A version of a wiki page, if the page is as its author knows it. */
export interface WikiSave extends Omit<NewWiki, "basedOn"> {
  /** The id of the latest version or a prefix; null if there is no page; absent for any. */
  readonly parent?: string | null;
  /** For a new page without a type. */
  readonly newMimetype: string;
}

/** What became of a version of a wiki page. */
export type SavedWiki =
  | { readonly kind: "stale"; readonly latest: WikiVersion | null }
  | { readonly kind: "saved"; readonly page: WikiPage; readonly isNew: boolean };

/** Writes a version of a wiki page, unless its content is the same or the page has changed. */
export function saveWiki(
  { repository, reader }: Context,
  { parent, newMimetype, ...wiki }: WikiSave,
): SavedWiki {
  const { title, text } = wiki;
  const version = readLatestWikiVersion(reader, title);
  const latest = version !== null && version.size > 0 ? version : null;
  const fits = parent === undefined ||
    (parent === null ? latest === null : latest?.uuid.startsWith(parent.toLowerCase()));
  if (fits !== true) return { kind: "stale", latest };
  const before = latest === null ? null : readWikiPage(reader, title);
  const mimetype = wiki.mimetype ?? before?.mimetype ?? newMimetype;
  if (before?.content === text && before.mimetype === mimetype) {
    return { kind: "saved", page: before, isNew: false };
  }
  writeWiki(repository, { ...wiki, mimetype, basedOn: version?.uuid ?? null });
  return { kind: "saved", page: readWikiPage(reader, title), isNew: before === null };
}
