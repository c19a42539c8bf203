import { z } from "zod";

/** The name of an object of Git LFS. */
export const lfsOidSchema = z.string()
  .regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in hexadecimal")
  .meta({ description: "The SHA-256 of the content", example: "0".repeat(64) });

/** The signature of a commit. */
export const signatureSchema = z.object({
  kind: z.enum(["ssh", "gpg", "x509", "unknown"]),
  state: z.enum(["verified", "unknown", "bad"]).meta({
    description:
      "verified: by the key of an account; bad: the key has not signed this commit, or " +
      "the signature is malformed; unknown: no account has the key, or it is no SSH signature",
  }),
  by: z.string().optional().meta({ description: "The account whose key it is, if verified" }),
  fingerprint: z.string().optional().meta({ description: "Of the SSH key" }),
}).meta({ id: "Signature" });

export type SignatureView = z.output<typeof signatureSchema>;
