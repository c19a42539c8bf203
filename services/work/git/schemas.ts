import { z } from "zod";

/** The name of an object of Git LFS. */
export const lfsOidSchema = z.string()
  .regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in hexadecimal")
  .meta({ description: "The SHA-256 of the content", example: "0".repeat(64) });
