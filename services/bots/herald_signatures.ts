/** Signatures of webhooks that come from outside. */
import { Buffer } from "node:buffer";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** How far the clock of a sender may be off, in milliseconds (Standard Webhooks). */
const TOLERANCE_MS = 300_000;

/** Signatures that one delivery may carry. */
const MOST_SIGNATURES = 10;

/** The programs whose webhooks herald understands. */
export const SOURCE_KINDS = ["github", "forgejo", "gitlab", "standard"] as const;
export type SourceKind = typeof SOURCE_KINDS[number];

/** A webhook as it arrived. */
export interface Delivery {
  /** The value of a header, or null. */
  header(name: string): string | null;
  readonly body: Uint8Array;
}

/** What a delivery proves: it came from the holder of the secret, and is this one. */
export interface ProvenDelivery {
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
export function proven(
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
