/** Reads webhooks that come from outside: first their signature, then their body. */
import { Buffer } from "node:buffer";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { amount } from "../../kernel/words.ts";
import { entriesIn, parseJson } from "../../kernel/validation/mod.ts";

/** A webhook as it arrived, and what its source must prove. Plain data, because it goes to a thread. */
export interface Arrived {
  /** The name of the source. */
  readonly source: string;
  readonly kind: SourceKind;
  /** By names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly secret: string;
  /** Unix milliseconds. */
  readonly now: number;
}

export type ReadDelivery =
  | { readonly kind: "unproven" }
  /** What is wrong with the body. */
  | { readonly kind: "invalid"; readonly message: string }
  /** What makes it this delivery, and what to say. */
  | { readonly kind: "read"; readonly id: string; readonly notice: HeraldNotice };

/** Most entries of a body, which bounds the memory that it takes; a push of GitHub has fewer. */
const MOST_ENTRIES = 2_000_000;

/** Reads a webhook; parses nothing of one that proves nothing. */
export function readDelivery(arrived: Arrived): ReadDelivery {
  const { source, kind, headers, body, secret, now } = arrived;
  const header = (name: string) => headers[name] ?? null;
  const proof = proven(kind, { header, body }, secret, now);
  if (proof === null) return { kind: "unproven" };
  let payload: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    const entries = entriesIn(text);
    if (entries === null || entries > MOST_ENTRIES) {
      const message = "The body is nested too deeply, or has too many entries or fields";
      return { kind: "invalid", message };
    }
    payload = parseJson(text);
  } catch {
    const message = "The body must be JSON: choose the content type application/json";
    return { kind: "invalid", message };
  }
  return { kind: "read", id: proof.id, notice: noticeOf(source, kind, proof.event, payload) };
}

/** Signatures of webhooks that come from outside. */

/** How far the clock of a sender may be off, in milliseconds (Standard Webhooks). */
const TOLERANCE_MS = 300_000;

/** Signatures that one delivery may carry. */
const MOST_SIGNATURES = 10;

/** The programs whose webhooks herald understands. */
export const SOURCE_KINDS = ["github", "forgejo", "gitlab", "standard"] as const;
export type SourceKind = typeof SOURCE_KINDS[number];

/** A webhook as it arrived. */
interface Delivery {
  /** The value of a header, or null. */
  header(name: string): string | null;
  readonly body: Uint8Array;
}

/** What a delivery proves: it came from the holder of the secret, and is this one. */
interface ProvenDelivery {
  /** What makes it this delivery. Only what is signed counts: of GitHub and Forgejo, the body. */
  readonly id: string;
  /** The name of the event, as the sender's header has it; empty if the body names it. */
  readonly event: string;
}

/**
 * Checks the signature of a delivery, in constant time.
 *
 * @param secret `whsec_` and Base64, as herald gave it
 * @param now Unix milliseconds
 * @returns null if it proves nothing
 */
function proven(
  kind: SourceKind,
  delivery: Delivery,
  secret: string,
  now: number,
): ProvenDelivery | null {
  switch (kind) {
    case "github":
      return fromHub(delivery, secret, ["github"]);
    case "forgejo":
      return fromHub(delivery, secret, ["forgejo", "gitea", "gogs"]);
    case "gitlab":
      return fromStandard(delivery, secret, now) ?? fromGitLab(delivery, secret);
    case "standard":
      return fromStandard(delivery, secret, now);
  }
}

/** GitHub, Forgejo and Gitea: HMAC-SHA-256 of the body in hexadecimal, without a time. */
function fromHub(
  { header, body }: Delivery,
  secret: string,
  vendors: readonly string[],
): ProvenDelivery | null {
  const given = header("x-hub-signature-256")?.replace(/^sha256=/, "") ??
    firstOf(vendors, (vendor) => header(`x-${vendor}-signature`));
  const event = firstOf(vendors, (vendor) => header(`x-${vendor}-event`));
  if (given === null || event === null) return null;
  const expected = createHmac("sha256", secret).update(body).digest("hex");
  return isSame(given.toLowerCase(), expected) ? { id: expected, event } : null;
}

/**
 * GitLab's "Secret token", which it sends as it is. It signs nothing: its holder may send anything, so
 * the id of the delivery counts too, which stays the same when GitLab sends it again.
 */
function fromGitLab({ header, body }: Delivery, secret: string): ProvenDelivery | null {
  if (!isSame(header("x-gitlab-token") ?? "", secret)) return null;
  const id = header("idempotency-key") ?? createHash("sha256").update(body).digest("hex");
  return { id, event: "" };
}

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
function fromStandard({ header, body }: Delivery, secret: string, now: number) {
  const id = header("webhook-id");
  const timestamp = header("webhook-timestamp") ?? "";
  const given = (header("webhook-signature") ?? "").split(" ").slice(0, MOST_SIGNATURES);
  if (id === null || !/^\d{1,12}$/.test(timestamp)) return null;
  if (Math.abs(now - Number(timestamp) * 1000) > TOLERANCE_MS) return null;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  const isRight = given.map((one) => isSame(one, `v1,${mac}`)).includes(true);
  return isRight ? { id, event: "" } : null;
}

function firstOf(names: readonly string[], find: (name: string) => string | null): string | null {
  for (const name of names) {
    const found = find(name);
    if (found !== null) return found;
  }
  return null;
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** What herald says about the events of other programs: one line for each delivery. */

/** An event from outside: its type, by which it is routed, and what is said about it. */
export interface HeraldNotice {
  readonly type: string;
  readonly text: string;
}

/** Longest text of one field, and longest address that is shown, in UTF-16 units. */
const FIELD_LENGTH = 200;

/** Longest line, with the type before it, in bytes: IRC would make two of a longer one. */
const LINE_BYTES = 360;

/** Fewest bytes of a line without its type and its address. */
const LEAST_BYTES = 80;

const encoder = new TextEncoder();

/** The notice about a delivery. Its fields may be anything: only texts and numbers are used. */
function noticeOf(
  source: string,
  kind: SourceKind,
  event: string,
  payload: unknown,
): HeraldNotice {
  if (kind === "github" || kind === "forgejo") return hubNotice(source, event, payload);
  // GitLab's events about members and groups have another field for it.
  const gitlabKind = firstText(payload, [
    "object_kind",
    ...kind === "gitlab" ? ["event_name"] : [],
  ]);
  return gitlabKind === ""
    ? standardNotice(source, payload)
    : gitlabNotice(source, gitlabKind, payload);
}

function standardNotice(source: string, payload: unknown): HeraldNotice {
  const name = textAt(payload, "type");
  const type = typeOf(source, name);
  const data = fieldOf(payload, "data");
  const said = firstText(data, ["text", "message", "title", "summary", "name", "id"]);
  return { type, text: line(type, [said || "happened", resultOf(data)], "") };
}

/** An event of GitHub, Forgejo or Gitea. */
function hubNotice(source: string, event: string, payload: unknown): HeraldNotice {
  const action = textAt(payload, "action");
  const type = typeOf(source, event, action);
  // Forgejo's runs of actions have both of their own.
  const repository = textAt(payload, "repository", "full_name") ||
    textAt(payload, "run", "repository", "full_name");
  const sender = textAt(payload, "sender", "login") ||
    textAt(payload, "run", "trigger_user", "login");
  const { words, url } = hubWords(event, action, payload);
  return { type, text: line(type, [repository, sender, ...words], url) || event };
}

/** What is said about an event, and the address that shows it. */
interface Said {
  readonly words: readonly string[];
  readonly url: string;
}

/** The subjects of events, the most special first: a comment's event has its issue, too. */
const SUBJECTS = [
  "check_run",
  "check_suite",
  "workflow_job",
  "workflow_run",
  "run",
  "deployment_status",
  "deployment",
  "pull_request",
  "issue",
  "release",
  "discussion",
  "alert",
  "package",
  "milestone",
] as const;

function hubWords(event: string, action: string, payload: unknown): Said {
  if (event === "push") return { words: pushWords(payload), url: "" };
  if (event === "status") {
    const words = ["status of", firstText(payload, ["context", "name"]), resultOf(payload)];
    return { words: [...words, textAt(payload, "description")], url: urlAt(payload, "target_url") };
  }
  if (event === "create" || event === "delete") {
    const verb = event === "create" ? "created" : "deleted";
    return { words: [verb, textAt(payload, "ref_type"), textAt(payload, "ref")], url: "" };
  }
  if (event === "page_build") {
    const build = fieldOf(payload, "build");
    const words = ["page build", resultOf(build), textAt(build, "error", "message")];
    return { words, url: addressIn(build) };
  }
  const comment = fieldOf(payload, "comment");
  if (isObject(comment)) return commentWords(action, comment, payload);
  const review = fieldOf(payload, "review");
  if (isObject(review)) return reviewWords(event, action, review, payload);
  const thread = fieldOf(payload, "thread");
  if (isObject(thread)) {
    const pull = fieldOf(payload, "pull_request");
    const words = [action, "a thread of pull request", numberOf(pull), titleOf(pull)];
    return { words, url: addressIn(pull) };
  }
  // Events of deployments also have the run that made them, and others what they belong to.
  for (const key of [event, event.replace(/s$/, ""), ...SUBJECTS]) {
    const subject = fieldOf(payload, key);
    if (!isObject(subject)) continue;
    const isMerge = key === "pull_request" && action === "closed" && isMerged(subject);
    // The action of a run of Forgejo is its result.
    const verb = key === "run" ? "" : isMerge ? "merged" : nameOfKind(action);
    const words = [verb, nameOfKind(key), numberOf(subject), titleOf(subject), resultOf(subject)];
    return { words: [...words, textAt(subject, "description")], url: addressIn(subject) };
  }
  return { words: [event, action, firstText(payload, ["ref", "zen"]), resultOf(payload)], url: "" };
}

/** A comment on what its event is about. */
function commentWords(action: string, comment: unknown, payload: unknown): Said {
  const key = (["pull_request", "issue", "discussion"] as const)
    .find((key) => isObject(fieldOf(payload, key)));
  const subject = key === undefined ? undefined : fieldOf(payload, key);
  // GitHub counts pull requests among issues.
  const isPull = key === "pull_request" || isObject(fieldOf(subject, "pull_request")) ||
    fieldOf(payload, "is_pull") === true;
  const commit = textAt(comment, "commit_id").slice(0, 10);
  const target = key === undefined
    ? ["commit", commit]
    : [nameOfKind(isPull ? "pull_request" : key), `${numberOf(subject)} ${titleOf(subject)}`];
  const words = [commented(action), ...target];
  return { words: [...words, quoted(textAt(comment, "body"))], url: addressIn(comment) };
}

function commented(action: string): string {
  if (action === "" || action === "created" || action === "create") return "commented on";
  return `${action === "update" ? "edited" : action} a comment on`;
}

const VERDICTS: readonly (readonly [RegExp, string])[] = [
  [/approved/, "approved"],
  [/changes_requested|rejected/, "requested changes of"],
  [/dismissed/, "dismissed a review of"],
];

function reviewWords(event: string, action: string, review: unknown, payload: unknown): Said {
  const state = [action, textAt(review, "state"), textAt(review, "type"), event].join(" ");
  const verdict = VERDICTS.find(([pattern]) => pattern.test(state))?.[1] ?? "reviewed";
  const subject = fieldOf(payload, "pull_request");
  const body = firstText(review, ["body", "content"]);
  const words = [verdict, "pull request", numberOf(subject), titleOf(subject), quoted(body)];
  return { words, url: urlAt(review, "html_url") || addressIn(subject) };
}

function pushWords(payload: unknown): readonly string[] {
  const commits = fieldOf(payload, "commits");
  const listed = Array.isArray(commits) ? commits.length : 0;
  // GitLab, Gitea and Forgejo list only some.
  const told = Number(firstText(payload, ["total_commits_count", "total_commits"]));
  const count = Number.isSafeInteger(told) ? Math.max(told, listed) : listed;
  const branch = textAt(payload, "ref").replace(/^refs\/(heads|tags)\//, "");
  const subject = textAt(payload, "head_commit", "message") ||
    textAt(Array.isArray(commits) ? commits.at(-1) : null, "message");
  const first = firstLine(subject);
  const isDeleted = fieldOf(payload, "deleted") === true ||
    /^0{40,}$/.test(textAt(payload, "after"));
  if (isDeleted) return ["deleted", branch];
  if (count === 0) return ["pushed", branch];
  return ["pushed", amount(count, "commit"), "to", first === "" ? branch : `${branch}: ${first}`];
}

/** What GitLab's kinds of objects are called. */
const GITLAB_NAMES: Readonly<Record<string, string>> = { build: "job", note: "comment" };

/** GitLab's actions that are no participles. */
const GITLAB_VERBS: ReadonlyMap<string, string> = new Map([
  ["open", "opened"],
  ["close", "closed"],
  ["reopen", "reopened"],
  ["update", "updated"],
  ["merge", "merged"],
  ["create", "created"],
  ["delete", "deleted"],
  ["approval", "approved"],
  ["unapproval", "unapproved"],
]);

/** An event of GitLab, whose payloads name their kind. */
function gitlabNotice(source: string, kind: string, payload: unknown): HeraldNotice {
  const about = fieldOf(payload, "object_attributes");
  const action = textAt(about, "action") || textAt(payload, "action");
  const type = typeOf(source, GITLAB_NAMES[kind] ?? kind, action);
  const project = textAt(payload, "project", "path_with_namespace") ||
    textAt(payload, "project_name");
  const user = firstText(payload, ["user_username", "user_name"]) ||
    firstText(fieldOf(payload, "user"), ["username", "name"]);
  const { words, url } = gitlabWords(kind, action, about, payload);
  return { type, text: line(type, [project, user, ...words], url) };
}

function gitlabWords(kind: string, action: string, about: unknown, payload: unknown): Said {
  if (kind === "push" || kind === "tag_push") return { words: pushWords(payload), url: "" };
  if (kind === "note") {
    const key = (["merge_request", "issue", "snippet"] as const)
      .find((key) => isObject(fieldOf(payload, key)));
    const subject = key === undefined ? undefined : fieldOf(payload, key);
    const name = nameOfKind(key ?? "commit");
    const words = [commented(action), name, numberOf(subject), titleOf(subject)];
    return { words: [...words, quoted(textAt(about, "note"))], url: addressIn(about) };
  }
  const subject = isObject(about) ? about : payload;
  const name = GITLAB_NAMES[kind] ?? nameOfKind(kind);
  const ref = firstText(subject, ["ref"]);
  const own = firstText(payload, ["build_name", "environment"]) || titleOf(subject);
  const title = own === ref ? "" : own;
  const verb = GITLAB_VERBS.get(action) ?? nameOfKind(action);
  const words = [verb, name, numberOf(subject), title, ref === "" ? "" : `on ${ref}`];
  return { words: [...words, resultOf(subject)], url: addressIn(subject) };
}

/** The results of checks, jobs, pipelines and deployments, wherever a program writes them. */
const RESULTS = ["conclusion", "state", "build_status", "status"] as const;

/** What is open or closed says so by its action. */
const NO_RESULTS: ReadonlySet<string> = new Set([
  ...["open", "opened", "closed", "reopened", "merged", "locked", "active", "completed", "created"],
]);

function resultOf(subject: unknown): string {
  const result = RESULTS.map((key) => textAt(subject, key))
    .find((text) => text !== "" && !NO_RESULTS.has(text));
  return result === undefined ? "" : `(${result})`;
}

function typeOf(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(".");
}

function nameOfKind(key: string): string {
  return key.replaceAll("_", " ");
}

function numberOf(subject: unknown): string {
  const number = firstText(subject, ["number", "iid", "index_in_repo"]);
  return number === "" ? "" : `#${number}`;
}

const TITLES = [
  ...["title", "name", "display_title", "tag_name", "summary", "full_name", "environment", "ref"],
];

function titleOf(subject: unknown): string {
  return firstLine(firstText(subject, TITLES)) ||
    textAt(subject, "app", "name");
}

function isMerged(subject: unknown): boolean {
  return fieldOf(subject, "merged") === true;
}

/** The first line of a text, after a colon. */
function quoted(text: string): string {
  const first = firstLine(text);
  return first === "" ? "" : `: ${first}`;
}

function firstLine(text: string): string {
  return text.trimStart().split(/[\r\n]/, 1)[0]?.trim() ?? "";
}

/**
 * One line: words with spaces between them, and an address at its end. Cut so that it is one line on
 * IRC too, with the type before it.
 */
function line(type: string, words: readonly string[], url: string): string {
  const text = words.filter((word) => word !== "").join(" ")
    .replaceAll(/[\p{Cc}\s]+/gu, " ").replaceAll(" : ", ": ").trim();
  const end = url === "" ? "" : ` ${url}`;
  const room = LINE_BYTES - encoder.encode(type + end).length;
  return cut(text, Math.max(room, LEAST_BYTES)) + end;
}

/** The beginning of a text that has at most so many bytes in UTF-8. */
function cut(text: string, bytes: number): string {
  const { read } = encoder.encodeInto(text, new Uint8Array(bytes));
  return read === text.length ? text : `${text.slice(0, Math.max(read - 1, 0)).trimEnd()}…`;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;
}

function textAt(value: unknown, ...path: readonly string[]): string {
  const found = path.reduce(fieldOf, value);
  if (typeof found === "number") return String(found);
  return typeof found === "string" ? found.slice(0, FIELD_LENGTH) : "";
}

function firstText(value: unknown, keys: readonly string[]): string {
  return keys.map((key) => textAt(value, key)).find((text) => text !== "") ?? "";
}

/** Where a subject is shown. */
function addressIn(subject: unknown): string {
  for (const key of ["html_url", "target_url", "log_url", "deployable_url", "url"]) {
    const url = urlAt(subject, key);
    // The addresses of programs, which people cannot use.
    if (url !== "" && !/^https?:\/\/(?:api\.|[^/]+\/api\/)/.test(url)) return url;
  }
  return "";
}

/** An address; empty if it is none, or longer than a line takes. */
function urlAt(value: unknown, key: string): string {
  const url = fieldOf(value, key);
  if (typeof url !== "string" || url.length > FIELD_LENGTH) return "";
  return /^https?:\/\/[^\s\p{Cc}]+$/u.test(url) ? url : "";
}
