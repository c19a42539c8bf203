import { z } from "./extended_zod.ts";

function own(description: string) {
  return z.int().nullable().openapi({ description: `${description}; null for the server's` });
}

/** The fields of a project's own settings; spread them into the object of a project. */
export const ownSettings = {
  claim_seconds: own("How long a claim lasts after the last write"),
  strikes: own("Claims without a result after which a ticket waits for a person"),
  landing: z.object({
    depth: own("Landings that are tested at the same time"),
    timeout_seconds: own("Time limit of a candidate's checks"),
  }),
};
