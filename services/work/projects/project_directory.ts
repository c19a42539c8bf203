import type { Database, Directory } from "../../engines/database/mod.ts";
import type { ProjectRole } from "../../people/identity/mod.ts";
import { type HeldProject, type Project, projectOf } from "./records.ts";

/** Every project with its members and stars, in memory. */
export class ProjectDirectory implements Directory {
  readonly tables = ["projects", "project_members", "project_stars"] as const;
  readonly #database: Pick<Database, "tables">;
  readonly #bySlug = new Map<string, HeldProject>();
  readonly #byId = new Map<string, HeldProject>();
  readonly #listeners: ((id: string, held: HeldProject | null) => void)[] = [];

  constructor(database: Pick<Database, "tables">) {
    this.#database = database;
  }

  /** Calls a listener with each project that changed or whose members did; null for one that ended. */
  onChanged(listener: (id: string, held: HeldProject | null) => void): void {
    this.#listeners.push(listener);
  }

  async load(): Promise<void> {
    const { tables } = this.#database;
    const rows = await tables.selectFrom("projects").selectAll()
      .where("removed_at", "is", null).execute();
    const members = await tables.selectFrom("project_members").selectAll().execute();
    const stars = await tables.selectFrom("project_stars").selectAll().execute();
    const known = [...this.#byId.keys()];
    this.#bySlug.clear();
    this.#byId.clear();
    for (const row of rows) this.#put(projectOf(row));
    for (const { project_id, account_id, role } of members) {
      this.#byId.get(project_id)?.members.set(account_id, role);
    }
    for (const { project_id, account_id } of stars) {
      this.#byId.get(project_id)?.stars.add(account_id);
    }
    for (const id of new Set([...known, ...this.#byId.keys()])) this.#changed(id);
  }

  get size(): number {
    return this.#bySlug.size;
  }

  /** Every project, by slug. */
  all(): readonly HeldProject[] {
    return [...this.#bySlug.values()].sort((one, other) =>
      one.project.slug < other.project.slug ? -1 : 1
    );
  }

  /** The project of a slug, or null. */
  find(slug: string): HeldProject | null {
    return this.#bySlug.get(slug) ?? null;
  }

  /** The project of an internal id; null if it is removed. */
  get(id: string): HeldProject | null {
    return this.#byId.get(id) ?? null;
  }

  /** Adds a new project, without members. */
  hold(project: Project): void {
    this.#put(project);
    this.#changed(project.id);
  }

  #put(project: Project): void {
    const held = { project, members: new Map<string, ProjectRole>(), stars: new Set<string>() };
    this.#bySlug.set(project.slug, held);
    this.#byId.set(project.id, held);
  }

  /** Records a change of a project's fields. */
  replace(id: string, change: Partial<Project>): void {
    const held = this.#byId.get(id);
    if (held === undefined) return;
    held.project = { ...held.project, ...change };
    this.#changed(id);
  }

  /** Records the role of an account in a project; null if it is no member any more. */
  setRole(id: string, accountId: string, role: ProjectRole | null): void {
    const members = this.#byId.get(id)?.members;
    if (role === null) members?.delete(accountId);
    else members?.set(accountId, role);
    this.#changed(id);
  }

  /** Drops a removed project. */
  drop(id: string): void {
    const held = this.#byId.get(id);
    if (held === undefined) return;
    this.#byId.delete(id);
    this.#bySlug.delete(held.project.slug);
    this.#changed(id);
  }

  #changed(id: string): void {
    for (const listener of this.#listeners) listener(id, this.get(id));
  }

  forgetAccount(id: string): void {
    for (const { members, stars } of this.#byId.values()) {
      members.delete(id);
      stars.delete(id);
    }
  }
}
