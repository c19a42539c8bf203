/**
 * Secrets and signatures of webhooks.
 *
 * @see {@link
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md}
 */
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";

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
 * The value of `webhook-signature`: one signature for each secret.
 *
 * @param timestamp Unix seconds
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
