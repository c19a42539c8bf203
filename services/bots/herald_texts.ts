/** What herald says about the events of other programs. */
import { amount } from "../amount.ts";
import type { SourceKind } from "./herald_signatures.ts";

/** An event from outside: its type, by which it is routed, and what is said about it. */
export interface HeraldNotice {
  readonly type: string;
  readonly text: string;
}

/** Longest text of one field. */
const FIELD_LENGTH = 200;

/** The notice about a delivery. Its fields may be anything: only texts and numbers are used. */
export function noticeOf(
  source: string,
  kind: SourceKind,
  event: string,
  payload: unknown,
): HeraldNotice {
  return kind === "standard" ? standardNotice(source, payload) : hubNotice(source, event, payload);
}

function standardNotice(source: string, payload: unknown): HeraldNotice {
  const type = textAt(payload, "type");
  const name = type === "" ? source : `${source}.${type}`;
  const said = ["text", "message", "title", "summary", "name", "id"]
    .map((key) => textAt(payload, "data", key)).find((text) => text !== "");
  return { type: name, text: said ?? "happened" };
}

/** An event of GitHub, Forgejo or Gitea. */
function hubNotice(source: string, event: string, payload: unknown): HeraldNotice {
  const action = textAt(payload, "action");
  const type = [source, event, action].filter((part) => part !== "").join(".");
  const repository = textAt(payload, "repository", "full_name");
  const sender = textAt(payload, "sender", "login");
  const parts = [repository, sender, ...wordsFor(event, action, payload)];
  return { type, text: parts.filter((part) => part !== "").join(" ") || event };
}

function wordsFor(event: string, action: string, payload: unknown): readonly string[] {
  if (event === "push") return pushWords(payload);
  for (const key of ["pull_request", "issue", "release", "workflow_run", "discussion"]) {
    const subject = fieldOf(payload, key);
    if (subject === undefined) continue;
    const number = textAt(subject, "number");
    const title = firstText(subject, ["title", "name", "tag_name"]);
    const outcome = textAt(subject, "conclusion");
    return [
      action,
      key.replace("_", " "),
      number === "" ? "" : `#${number}`,
      title,
      outcome === "" ? "" : `(${outcome})`,
      urlAt(subject, "html_url"),
    ];
  }
  return [event, action, firstText(payload, ["ref", "zen"])];
}

function pushWords(payload: unknown): readonly string[] {
  const commits = fieldOf(payload, "commits");
  const count = Array.isArray(commits) ? commits.length : 0;
  const branch = textAt(payload, "ref").replace(/^refs\/(heads|tags)\//, "");
  const subject = textAt(payload, "head_commit", "message") ||
    textAt(Array.isArray(commits) ? commits.at(-1) : null, "message");
  const [first = ""] = subject.split("\n", 1);
  if (fieldOf(payload, "deleted") === true) return ["deleted", branch];
  if (count === 0) return ["pushed", branch];
  return ["pushed", amount(count, "commit"), "to", first === "" ? branch : `${branch}: ${first}`];
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

function urlAt(value: unknown, key: string): string {
  const url = textAt(value, key);
  return /^https?:\/\/[^\s\p{Cc}]+$/u.test(url) ? url : "";
}
