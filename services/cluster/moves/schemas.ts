import { z } from "zod";
import { PART_NAME } from "./arriving_copies.ts";

/** The parts of a copy: the repository, and unfinished uploads by their id. */
export const partSumsSchema = z.array(
  z.strictObject({
    name: z.string().regex(PART_NAME),
    bytes: z.int().min(0),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  }),
).max(1000);
