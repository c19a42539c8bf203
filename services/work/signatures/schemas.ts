import { z } from "zod";

/** The signature of a commit. */
export const signatureSchema = z.object({
  kind: z.enum(["ssh", "gpg", "x509", "unknown"]),
  state: z.enum(["verified", "amended", "unknown", "bad"]).meta({
    description:
      "verified: by the key of an account; amended: so too, but the check-in's comment, person, " +
      "date or parents have been changed since; bad: the key has not signed this commit, or " +
      "the signature is malformed; unknown: no account has the key, or it is no SSH signature",
  }),
  by: z.string().optional().meta({ description: "The account whose key it is, if verified" }),
  fingerprint: z.string().optional().meta({ description: "Of the SSH key" }),
}).meta({ id: "Signature" });

export type SignatureView = z.output<typeof signatureSchema>;
