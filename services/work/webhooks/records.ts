import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import type { Selectable } from "kysely";
import type { Tables } from "../../engines/database/mod.ts";
import type { DeliveryView, WebhookView } from "./schemas.ts";

/** How long the previous secret also signs after a new one is made, in milliseconds. */
const SECRETS_OVERLAP = 24 * 60 * 60_000;

/** A webhook, held in memory. Times are Unix milliseconds. */
export interface Webhook {
  readonly id: string;
  /** Internal id of the project; null for all projects. */
  readonly projectId: string | null;
  readonly url: URL;
  readonly secretVersion: number;
  readonly secretSince: number;
  /** Names of events; empty for all. */
  readonly types: readonly string[];
  readonly isActive: boolean;
  /** The number of the last event before its first delivery. */
  readonly cursor: number;
  readonly failingSince: number | null;
  readonly createdAt: number;
}

export type DeliveryRow = Selectable<Tables["webhook_deliveries"]>;

export function webhookOf(row: Selectable<Tables["webhooks"]>): Webhook {
  return {
    id: row.id,
    projectId: row.project_id,
    url: new URL(row.url),
    secretVersion: row.secret_version,
    secretSince: row.secret_since,
    types: row.types === "" ? [] : row.types.split(","),
    isActive: row.is_active === 1,
    cursor: row.cursor,
    failingSince: row.failing_since,
    createdAt: row.created_at,
  };
}

/**
 * The versions of the secrets that sign at a given time: the newest and, for a day, the previous
 * one.
 */
export function signingVersions(
  { secretVersion, secretSince }: Webhook,
  now: number,
): readonly number[] {
  const overlaps = secretVersion > 1 && now < secretSince + SECRETS_OVERLAP;
  return overlaps ? [secretVersion, secretVersion - 1] : [secretVersion];
}

export function viewOfWebhook(webhook: Webhook, project: string | null): WebhookView {
  const { id, url, types, isActive: active, failingSince, createdAt } = webhook;
  return {
    id,
    project,
    url: url.href,
    types,
    active,
    failing_since: isoTime(failingSince),
    created_at: new Date(createdAt).toISOString(),
  };
}

export function viewOfDelivery(row: Omit<DeliveryRow, "body" | "webhook_id">): DeliveryView {
  const { id, type, status, attempts, response_status, error, milliseconds } = row;
  return {
    id,
    type,
    event: row.event_seq,
    status,
    attempts,
    next_attempt_at: isoTime(row.next_attempt_at),
    response_status,
    error,
    milliseconds,
    created_at: new Date(row.created_at).toISOString(),
    finished_at: isoTime(row.finished_at),
  };
}

function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

const PURPOSE = "muster webhook ";

/** The key from which secrets are derived. */
export interface SecretKey {
  mac(purpose: string, text: string): Promise<string>;
}

/** The secret of a webhook, which is shown once: `whsec_` and 32 bytes in Base64. */
export async function secretOf(key: SecretKey, id: string, version: number): Promise<string> {
  const bytes = Buffer.from(await key.mac(PURPOSE, `${id}.${version}`), "hex");
  return `whsec_${bytes.toString("base64")}`;
}

/**
 * The value of `webhook-signature` of Standard Webhooks: one signature for each secret.
 *
 * @param timestamp Unix seconds
 * @see {@link
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md}
 */
export function signatureOf(
  secrets: readonly string[],
  { id, timestamp, body }: {
    readonly id: string;
    readonly timestamp: number;
    readonly body: string;
  },
): string {
  return secrets.map((secret) => {
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`);
    return `v1,${mac.digest("base64")}`;
  }).join(" ");
}
