import type { Database } from "../../engines/database/mod.ts";
import { statement } from "../../engines/database/mod.ts";
import { Conflict, NotFound } from "../../kernel/errors.ts";
import { type Caller, originOf, seal, type SealingKey, unseal } from "../../people/identity/mod.ts";
import { type Project, projectEvent } from "../projects/mod.ts";
import type { Job } from "./records.ts";

/** Most secrets of a project. */
const MAX_SECRETS = 200;

const PURPOSE = "muster check secret ";

export interface CheckSecretsOptions {
  readonly database: Database;
  readonly key: SealingKey;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** A secret as it is listed: never its value. */
export interface ListedSecret {
  readonly name: string;
  /** The check that gets it; null for all that name it. */
  readonly check: string | null;
  readonly setBy: string;
  /** Unix milliseconds. */
  readonly setAt: number;
}

/** The secrets of checks, sealed in the database. Nothing returns a value but what gives it to a job. */
export class CheckSecrets {
  readonly #options: CheckSecretsOptions;

  constructor(options: CheckSecretsOptions) {
    this.#options = options;
  }

  /** A project's secrets, by name. */
  async list(project: Pick<Project, "id">): Promise<readonly ListedSecret[]> {
    const rows = await this.#options.database.tables.selectFrom("check_secrets")
      .select(["name", "check_name", "set_by", "set_at"])
      .where("project_id", "=", project.id).orderBy("name").orderBy("check_name").execute();
    return rows.map(({ name, check_name, set_by: setBy, set_at: setAt }) => ({
      name,
      check: check_name === "" ? null : check_name,
      setBy,
      setAt,
    }));
  }

  /**
   * Sets a secret of a check, or of all checks.
   *
   * @throws Conflict if the project has too many
   */
  async set(
    project: Project,
    { name, check, value }: {
      readonly name: string;
      readonly check: string | null;
      readonly value: string;
    },
    caller: Caller,
  ): Promise<void> {
    const { database, key, clock } = this.#options;
    const listed = await this.list(project);
    const isKnown = listed.some((one) => one.name === name && one.check === check);
    if (!isKnown && listed.length >= MAX_SECRETS) {
      throw new Conflict(`A project has at most ${MAX_SECRETS} secrets`);
    }
    const check_name = check ?? "";
    const sealed = await seal(key, purposeOf(project, check_name, name), value);
    const said = { sealed, set_by: caller.principal.name, set_at: clock() };
    const insertion = database.tables.insertInto("check_secrets")
      .values({ project_id: project.id, check_name, name, ...said })
      .onConflict((conflict) =>
        conflict.columns(["project_id", "check_name", "name"]).doUpdateSet(said)
      );
    await database.commit({
      statements: [statement(insertion)],
      events: [this.#event(project, name, check, "set", caller)],
    });
  }

  /** @throws NotFound */
  async remove(
    project: Project,
    name: string,
    check: string | null,
    caller: Caller,
  ): Promise<void> {
    const { database } = this.#options;
    const listed = await this.list(project);
    if (!listed.some((one) => one.name === name && one.check === check)) {
      throw new NotFound(`There is no secret "${name}"`);
    }
    const removal = database.tables.deleteFrom("check_secrets")
      .where("project_id", "=", project.id).where("name", "=", name)
      .where("check_name", "=", check ?? "");
    await database.commit({
      statements: [statement(removal)],
      events: [this.#event(project, name, check, "removed", caller)],
    });
  }

  /** The secrets that a job names, and those of its own. Only for code on a protected branch. */
  async of(
    project: Project,
    { name: check, spec: { secrets: asked } }: Pick<Job, "name" | "spec">,
  ): Promise<Readonly<Record<string, string>>> {
    if (asked.length === 0) return {};
    const { database, key } = this.#options;
    const rows = await database.tables.selectFrom("check_secrets").selectAll()
      .where("project_id", "=", project.id).where("name", "in", asked)
      .where("check_name", "in", ["", check]).orderBy("check_name").execute();
    const values: Record<string, string> = {};
    // The check's own comes after that of all checks.
    for (const { check_name, name, sealed } of rows) {
      const value = await unseal(key, purposeOf(project, check_name, name), sealed);
      if (value !== null) values[name] = value;
    }
    return values;
  }

  #event(
    project: Project,
    name: string,
    check: string | null,
    action: "set" | "removed",
    caller: Caller,
  ) {
    return projectEvent(project, "project.secret_changed", { name, check, action }, {
      origin: originOf(caller),
      time: this.#options.clock(),
    });
  }
}

function purposeOf({ id }: Pick<Project, "id">, check: string, name: string) {
  return { purpose: PURPOSE, owner: JSON.stringify([id, check, name]) };
}
