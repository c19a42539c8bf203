import type { z } from "zod";
import type { CheckinStatus } from "../../../services/work/checks/schemas.ts";
import type {
  landingListSchema,
  reviewDetailSchema,
} from "../../../services/work/reviews/schemas.ts";
import type { CheckJob } from "../../parts/check_jobs.ts";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

export type Review = z.output<typeof reviewDetailSchema>;
export type Landing = z.output<typeof landingListSchema>["landing"][number];

/** What the page of a review shows. */
export interface ReviewProps {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly review: Review;
  /** Its place in the landing queue, or its last landing. */
  readonly landing: Landing | null;
  /** The checks of its tip. */
  readonly checks: CheckinStatus["checks"];
  /** The jobs that made them, by context: of those that runners ran. */
  readonly jobs: ReadonlyMap<string, CheckJob>;
}
