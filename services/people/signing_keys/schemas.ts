import { z } from "zod";
import { MAX_SSH_KEY } from "../../engines/git/mod.ts";
import { lineSchema } from "../../kernel/validation/schemas.ts";

/** Longest name, in characters. */
export const MAX_NAME = 100;

/** The request for a key. */
export const signingKeySchema = z.object({
  key: z.string().min(1).max(MAX_SSH_KEY).meta({
    description: "The line of the file that ends in .pub, such as ~/.ssh/id_ed25519.pub",
  }),
  name: lineSchema(1, MAX_NAME).optional().meta({
    description: "A label for people; by default, the comment of the key",
  }),
  owner: z.string().optional().meta({
    description: "Another account than the caller's, for the operator and admins",
  }),
});
