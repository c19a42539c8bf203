/** The syntax and meaning of each card. */
import {
  compareUtf8,
  decodeUtf8,
  encodeUtf8,
  isArtifactHash,
  isHex,
  parseDate,
  unescapeToken,
} from "../codec/mod.ts";
import { type Card, CardError, cardOf, type CardReader } from "./cards.ts";
import { isFileName, isReservedFileName, isTagName, isWikiTitle } from "./names.ts";
import type {
  ArtifactKind,
  CherrypickCard,
  FileCard,
  FileMode,
  TagCard,
  TagSign,
  TicketField,
} from "./types.ts";

/** Most cached lines; each takes about 400 bytes with its card. */
const MAX_LINES = 20_000;

/** An F card that was read before. */
interface KnownFile {
  readonly card: FileCard;
  /** The card that was found valid before this one. */
  previous: FileCard | undefined;
}

/**
 * F cards by their lines. Nearly all stay the same from one check-in to the next, so many manifests
 * parse each line only once.
 */
export class KnownFiles {
  readonly #files = new Map<string, KnownFile>();

  get(line: string): KnownFile | undefined {
    return this.#files.get(line);
  }

  /**
   * @param line must not be a slice of a longer text, which would stay in memory. Nor may the texts
   * of the card.
   */
  set(line: string, card: FileCard, previous: FileCard | undefined): void {
    if (this.#files.size >= MAX_LINES) this.#files.clear();
    this.#files.set(line, { card, previous });
  }
}

/** A copy that is not a slice of a longer text. */
function detached(text: string): string {
  return decodeUtf8(encodeUtf8(text));
}

/** Values of the cards, before the kind of the artifact is known. */
export class Draft {
  kind: ArtifactKind | null = null;
  readonly seen = new Set<string>();
  attachment: { name: string; target: string; source: string | null } | null = null;
  baseline: string | null = null;
  comment: string | null = null;
  date: number | null = null;
  event: { date: number; id: string } | null = null;
  readonly files: FileCard[] = [];
  root: string | null = null;
  threadTitle: string | null = null;
  inReplyTo: string | null = null;
  readonly fields: TicketField[] = [];
  ticket: string | null = null;
  title: string | null = null;
  readonly members: string[] = [];
  mimetype: string | null = null;
  readonly parents: string[] = [];
  readonly cherrypicks: CherrypickCard[] = [];
  checksum: string | null = null;
  readonly tags: TagCard[] = [];
  user: string | null = null;
  text: string | null = null;
}

type CardRule = (draft: Draft, tokens: readonly string[], reader: CardReader) => void;

/** One rule per letter, and how many tokens it takes at most. */
const RULES: ReadonlyMap<string, readonly [tokens: number, rule: CardRule]> = new Map([
  ["A", [3, readAttachment]],
  ["B", [1, readBaseline]],
  ["C", [1, (draft, tokens) => draft.comment = once(draft.comment, textToken(tokens, 0))]],
  ["D", [1, (draft, tokens) => draft.date = once(draft.date, dateToken(tokens, 0))]],
  ["E", [2, readEvent]],
  ["F", [4, readFile]],
  ["G", [1, readForumRoot]],
  ["H", [1, readForumTitle]],
  ["I", [1, readForumReply]],
  ["J", [2, readField]],
  ["K", [1, readTicket]],
  ["L", [1, readTitle]],
  ["M", [1, readMember]],
  ["N", [1, (draft, tokens) => draft.mimetype = once(draft.mimetype, textToken(tokens, 0))]],
  ["P", [Infinity, readParents]],
  ["Q", [2, readCherrypick]],
  ["R", [1, readChecksum]],
  ["T", [3, readTag]],
  ["U", [1, readUser]],
  ["W", [1, readText]],
  ["Z", [1, (_, tokens) => md5Token(tokens)]],
]);

/** Reads one card into the draft; the reader returns the text after a W card. */
export function readCard(draft: Draft, card: Card, reader: CardReader): void {
  const rule = RULES.get(card.letter);
  if (rule === undefined) throw new CardError(`Card "${card.letter}" is unknown`);
  if (card.tokens.length > rule[0]) throw new CardError(`Card "${card.letter}" is too long`);
  rule[1](draft, card.tokens, reader);
}

function once<T>(current: T | null, value: T): T {
  if (current !== null) throw new CardError("A card stands twice");
  return value;
}

function rawToken(tokens: readonly string[], index: number): string {
  const token = tokens[index];
  if (token === undefined) throw new CardError("A card is too short");
  return token;
}

function textToken(tokens: readonly string[], index: number): string {
  return unescapeToken(rawToken(tokens, index));
}

function hashToken(tokens: readonly string[], index: number): string {
  const token = rawToken(tokens, index);
  if (!isArtifactHash(token)) throw new CardError(`"${token}" is not a hash`);
  return token.toLowerCase();
}

function md5Token(tokens: readonly string[]): string {
  const token = rawToken(tokens, 0);
  if (token.length !== 32 || !isHex(token)) throw new CardError("Checksum is malformed");
  return token;
}

function dateToken(tokens: readonly string[], index: number): number {
  const date = parseDate(rawToken(tokens, index));
  if (date === null) throw new CardError("Date is malformed");
  return date;
}

function nameToken(tokens: readonly string[], index: number): string {
  const name = textToken(tokens, index);
  if (!isFileName(name)) throw new CardError(`"${name}" is not a file name`);
  return name;
}

/** Sorted cards must ascend. Names that are not UTF-8 decode lossily and are not compared. */
function checkOrder(previous: string | undefined, name: string): void {
  if (previous === undefined || compareUtf8(previous, name) < 0) return;
  if (previous.includes("\ufffd") && name.includes("\ufffd")) return;
  throw new CardError("Cards of one letter are not in order");
}

function readAttachment(draft: Draft, tokens: readonly string[]): void {
  const name = nameToken(tokens, 0);
  const target = textToken(tokens, 1);
  if (!isArtifactHash(rawToken(tokens, 1)) && !isWikiTitle(target)) {
    throw new CardError("Target of an attachment is malformed");
  }
  const source = tokens.length > 2 ? hashToken(tokens, 2) : null;
  const tail = name.slice(name.lastIndexOf("/") + 1);
  draft.attachment = once(draft.attachment, { name: tail, target, source });
  draft.kind = "attachment";
}

function readBaseline(draft: Draft, tokens: readonly string[]): void {
  draft.baseline = once(draft.baseline, hashToken(tokens, 0));
  draft.kind = "manifest";
}

function readEvent(draft: Draft, tokens: readonly string[]): void {
  draft.event = once(draft.event, { date: dateToken(tokens, 0), id: hashToken(tokens, 1) });
  draft.kind = "technote";
}

function readFile(draft: Draft, tokens: readonly string[]): void {
  const name = nameToken(tokens, 0);
  const deleted = tokens.length === 1 && draft.baseline !== null;
  const hash = deleted ? null : hashToken(tokens, 1);
  const oldName = tokens.length > 3 ? nameToken(tokens, 3) : null;
  checkOrder(draft.files.at(-1)?.name, name);
  if (isReservedFileName(name)) return;
  draft.files.push({ name, hash, mode: modeOf(tokens[2]), oldName });
  draft.kind = "manifest";
}

/** Like `readCard`, for an F card; uses the cached card of its line. */
export function readFileLine(
  draft: Draft,
  line: string,
  known: KnownFiles,
  reader: CardReader,
): void {
  const previous = draft.files.at(-1);
  const file = known.get(line);
  if (file === undefined) {
    const own = detached(line);
    readCard(draft, cardOf(own), reader);
    const card = draft.files.at(-1);
    if (card !== undefined && card !== previous && card.hash !== null) {
      known.set(own, card, previous);
    }
    return;
  }
  if (previous !== undefined && previous !== file.previous) {
    checkOrder(previous.name, file.card.name);
    file.previous = previous;
  }
  draft.files.push(file.card);
  draft.kind = "manifest";
}

function modeOf(permissions: string | undefined): FileMode {
  if (permissions === undefined) return "file";
  if (permissions.includes("x")) return "executable";
  return permissions.includes("l") ? "link" : "file";
}

function readForumRoot(draft: Draft, tokens: readonly string[]): void {
  draft.root = once(draft.root, hashToken(tokens, 0));
  draft.kind = "forum";
}

function readForumTitle(draft: Draft, tokens: readonly string[]): void {
  draft.threadTitle = once(draft.threadTitle, textToken(tokens, 0));
  draft.kind = "forum";
}

function readForumReply(draft: Draft, tokens: readonly string[]): void {
  draft.inReplyTo = once(draft.inReplyTo, hashToken(tokens, 0));
  draft.kind = "forum";
}

function readField(draft: Draft, tokens: readonly string[]): void {
  const name = rawToken(tokens, 0);
  const last = draft.fields.at(-1);
  checkOrder(last && fieldKey(last), name);
  const append = name.startsWith("+");
  const value = unescapeToken(tokens[1] ?? "");
  draft.fields.push({ name: append ? name.slice(1) : name, value, append });
  draft.kind = "ticket";
}

/** The name of a field as its J card has it. */
export function fieldKey(field: TicketField): string {
  return field.append ? `+${field.name}` : field.name;
}

function readTicket(draft: Draft, tokens: readonly string[]): void {
  const id = rawToken(tokens, 0);
  if (id.length !== 40 || !isHex(id)) throw new CardError("Ticket id is malformed");
  draft.ticket = once(draft.ticket, id);
  draft.kind = "ticket";
}

function readTitle(draft: Draft, tokens: readonly string[]): void {
  const title = textToken(tokens, 0);
  if (!isWikiTitle(title)) throw new CardError("Wiki title is malformed");
  draft.title = once(draft.title, title);
  draft.kind = "wiki";
}

function readMember(draft: Draft, tokens: readonly string[]): void {
  const member = hashToken(tokens, 0);
  checkOrder(draft.members.at(-1), member);
  draft.members.push(member);
  draft.kind = "cluster";
}

function readParents(draft: Draft, tokens: readonly string[]): void {
  for (let i = 0; i < tokens.length; i++) draft.parents.push(hashToken(tokens, i));
}

function readCherrypick(draft: Draft, tokens: readonly string[]): void {
  const token = rawToken(tokens, 0);
  if (!/^[+-]/.test(token)) throw new CardError("A cherry-pick has no sign");
  const hash = hashToken([token.slice(1)], 0);
  const base = tokens.length > 1 ? hashToken(tokens, 1) : null;
  draft.cherrypicks.push({ hash, backout: token.startsWith("-"), base });
  draft.kind = "manifest";
}

function readChecksum(draft: Draft, tokens: readonly string[]): void {
  draft.checksum = once(draft.checksum, md5Token(tokens));
  draft.kind = "manifest";
}

function readTag(draft: Draft, tokens: readonly string[]): void {
  const signedName = textToken(tokens, 0);
  const target = rawToken(tokens, 1) === "*" ? null : hashToken(tokens, 1);
  const value = tokens.length > 2 ? textToken(tokens, 2) : null;
  const sign = signedName.charAt(0);
  const name = signedName.slice(1);
  if (!isTagSign(sign)) throw new CardError("A tag has no sign");
  if (!isTagName(name)) throw new CardError("A tag looks like a hash");
  const tag: TagCard = { sign, name, target, value };
  const last = draft.tags.at(-1);
  if (last !== undefined && compareTags(last, tag) >= 0) {
    throw new CardError("Cards of one letter are not in order");
  }
  draft.tags.push(tag);
}

function isTagSign(text: string): text is TagSign {
  return text === "+" || text === "*" || text === "-";
}

/** The order of T cards: signed name, then target, the artifact itself first. */
export function compareTags(left: TagCard, right: TagCard): number {
  return compareUtf8(left.sign + left.name, right.sign + right.name) ||
    compareUtf8(left.target ?? "", right.target ?? "");
}

function readUser(draft: Draft, tokens: readonly string[]): void {
  const user = unescapeToken(tokens[0] ?? "");
  draft.user = once(draft.user, tokens[0] ? user : "anonymous");
}

function readText(draft: Draft, tokens: readonly string[], reader: CardReader): void {
  const digits = /^\d*/.exec(rawToken(tokens, 0))?.[0] ?? "";
  draft.text = once(draft.text, reader.text(Number(digits)));
}
