/**
 * Tasks (extension `io.modelcontextprotocol/tasks`, SEP-2663): a call that others must end gives its
 * client something to ask after. A task has no state of its own. Its id names the tool, the caller and
 * the subject. What it shows is read from the subject, with the rights of the caller who asks. So it
 * outlasts the server, and no node needs to know it.
 */
import { z } from "zod";
import { NotFound } from "../services/kernel/errors.ts";
import type { Principal } from "../services/people/identity/mod.ts";
import { parseJson } from "../services/kernel/validation/mod.ts";
import type { Data } from "./budget.ts";
import { isRecord } from "./json_rpc.ts";

/** The extension, in the capabilities of client and server. */
export const TASKS = "io.modelcontextprotocol/tasks";

/** How long a task can be asked after, in milliseconds. */
const TTL = 7 * 24 * 60 * 60 * 1000;

/** How often a client should ask, in milliseconds. */
const POLL_INTERVAL = 3000;

/** Longest id of a task that is read, in characters. */
const MAX_ID = 1000;

const keySchema = z.strictObject({
  tool: z.string(),
  slug: z.string().nullable(),
  /** Who called, as {@link callerKey} says. */
  by: z.string(),
  /** When it began, in Unix milliseconds. */
  at: z.int(),
  about: z.record(z.string(), z.unknown()),
});

/** What the id of a task says. */
export type TaskKey = z.infer<typeof keySchema>;

/** A task as the protocol has it. */
export interface TaskView {
  readonly taskId: string;
  readonly status: "working" | "input_required" | "completed" | "cancelled" | "failed";
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  readonly [payload: string]: unknown;
}

/** What tells one caller from another: the account, the project of a token, or the operator. */
export function callerKey({ id, kind, project }: Principal): string {
  return id ?? (project === null ? kind : `${kind} ${project}`);
}

/** Whether a client with these capabilities follows tasks. */
export function followsTasks(capabilities: unknown): boolean {
  const extensions = isRecord(capabilities) ? capabilities.extensions : undefined;
  return isRecord(extensions) && isRecord(extensions[TASKS]);
}

/** The id of a task: the tool's name, for readers, and its key as base64url. */
function taskIdOf(key: TaskKey): string {
  const bytes = new TextEncoder().encode(JSON.stringify(key));
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return `${key.tool}.${base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/**
 * Reads the id of a task.
 *
 * @param now in Unix milliseconds
 * @throws NotFound if it is none, is too old, or another caller's
 */
export function taskKeyOf(id: string, caller: Principal, now: number): TaskKey {
  const key = readTaskId(id);
  // Who makes up an id may put any time into it.
  if (key === null || key.by !== callerKey(caller) || Math.abs(now - key.at) >= TTL) {
    throw new NotFound("There is no such task; a task is kept for 7 days");
  }
  return key;
}

/** What an id says, whose task it may be; null if it is none. */
export function readTaskId(id: string): TaskKey | null {
  const [, encoded] = /^\w+\.([\w-]+)$/.exec(id.slice(0, MAX_ID)) ?? [];
  if (encoded === undefined) return null;
  try {
    const base64 = encoded.replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return keySchema.safeParse(parseJson(text)).data ?? null;
  } catch {
    return null;
  }
}

/**
 * A task as its client sees it.
 *
 * @param changed when what it is about changed last, in Unix milliseconds; absent: when it began
 * @param payload what belongs to the status
 */
export function taskView(
  key: TaskKey,
  status: TaskView["status"],
  payload: Data = {},
  changed = key.at,
): TaskView {
  return {
    taskId: taskIdOf(key),
    status,
    createdAt: new Date(key.at).toISOString(),
    lastUpdatedAt: new Date(Math.max(changed, key.at)).toISOString(),
    ttlMs: TTL,
    pollIntervalMs: POLL_INTERVAL,
    ...payload,
  };
}
