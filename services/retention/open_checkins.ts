import type { Database } from "../database/mod.ts";
import type { Project, ProjectRepositories } from "../projects/mod.ts";

export interface OpenCheckinsParts {
  readonly database: Pick<Database, "tables">;
  readonly repositories: Pick<ProjectRepositories, "read">;
}

/**
 * The check-ins of a project that something open refers to: tips of open branches, rounds of open
 * reviews, landings in the queue, active workspaces and releases.
 *
 * @throws ServiceError if the repository cannot be read
 */
export async function openCheckins(
  { database: { tables }, repositories }: OpenCheckinsParts,
  project: Project,
): Promise<ReadonlySet<string>> {
  const { id } = project;
  const branches = await repositories.read(project, (repository) => repository.branches());
  const rounds = await tables.selectFrom("review_rounds")
    .innerJoin("reviews", "reviews.id", "review_rounds.review_id")
    .select(["base", "tip"]).where("reviews.project_id", "=", id)
    .where("reviews.status", "in", ["pending", "approved", "changes_requested"]).execute();
  const landings = await tables.selectFrom("landings").select(["tip", "base", "candidate"])
    .where("project_id", "=", id).where("ended_at", "is", null).execute();
  const workspaces = await tables.selectFrom("workspaces").select(["started_as", "base", "tip"])
    .where("project_id", "=", id).where("status", "=", "active").execute();
  const releases = await tables.selectFrom("releases").select("checkin")
    .where("project_id", "=", id).execute();
  const named = [...rounds, ...landings, ...workspaces, ...releases];
  return new Set([
    ...branches.filter(({ status }) => status === "open").map(({ last_uuid }) => last_uuid),
    ...named.flatMap((row) => Object.values(row)).filter((uuid) => uuid !== null),
  ]);
}
