import { type Change, type Database, Duplicate, Unchanged } from "../../engines/database/mod.ts";
import { Conflict, NotFound } from "../../kernel/errors.ts";
import type { Origin } from "../../engines/events/mod.ts";
import type { RepositoryPlace } from "../../engines/fossil/mod.ts";
import {
  type Account,
  type AccountDirectory,
  type Caller,
  originOf,
  type ProjectRole,
  type Tokens,
} from "../../people/identity/mod.ts";
import { newUlid } from "../../kernel/ulid.ts";
import { projectEvent, type ProjectEventData, type ProjectEventType } from "./events.ts";
import { type HaltCheck, noSuchProject } from "./access.ts";
import { ProjectDirectory } from "./project_directory.ts";
import { ProjectStatements } from "./project_statements.ts";
import type { HeldProject, Member, Project } from "./records.ts";
import type { ProjectRepositories } from "./repositories.ts";
import type { NewProject, ProjectChange } from "./schemas.ts";
import { changed, differences, effective, NO_SETTINGS, type WorkSettings } from "./settings.ts";

/** Projects of one server. */
const MAX_PROJECTS = 10_000;

/** Members of one project. */
const MAX_MEMBERS = 1000;

export interface ProjectsOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  readonly repositories: ProjectRepositories;
  /** Ends the tokens of a project when the project is removed. */
  readonly tokens: Pick<Tokens, "endingAllOfProject">;
  /** What holds in a project that has no setting of its own. */
  readonly defaults: WorkSettings;
  readonly halts: HaltCheck;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * Projects with their members and stars, all in memory, so that a request costs no read. Each
 * project has its own repository as long as it exists.
 */
export class Projects {
  /** Which agents are halted. */
  readonly halts: HaltCheck;
  readonly #database: Database;
  readonly #accounts: AccountDirectory;
  readonly #repositories: ProjectRepositories;
  readonly #tokens: ProjectsOptions["tokens"];
  readonly #defaults: WorkSettings;
  readonly #clock: () => number;
  readonly #directory: ProjectDirectory;
  readonly #statements: ProjectStatements;

  private constructor(options: ProjectsOptions) {
    this.halts = options.halts;
    this.#database = options.database;
    this.#accounts = options.accounts;
    this.#repositories = options.repositories;
    this.#tokens = options.tokens;
    this.#defaults = options.defaults;
    this.#clock = options.clock;
    this.#directory = new ProjectDirectory(options.database);
    this.#statements = new ProjectStatements(options.database, this.#directory);
  }

  /** Reads every project from the database. */
  static async open(options: ProjectsOptions): Promise<Projects> {
    const projects = new Projects(options);
    await options.database.keepCurrent(projects.#directory);
    options.repositories.homes.follow(projects.#directory);
    options.accounts.onChanged((id, account) => {
      if (account === null) projects.#directory.forgetAccount(id);
    });
    return projects;
  }

  /** Calls a listener with each project that changed or whose members did; null for one that ended. */
  onChanged(listener: (id: string, held: HeldProject | null) => void): void {
    this.#directory.onChanged(listener);
  }

  /** Every project, by slug. */
  all(): readonly HeldProject[] {
    return this.#directory.all();
  }

  /** The project of a slug, or null. */
  find(slug: string): HeldProject | null {
    return this.#directory.find(slug);
  }

  /** The project of an internal id; null if it is removed. */
  get(id: string): HeldProject | null {
    return this.#directory.get(id);
  }

  /**
   * The project of a slug.
   *
   * @throws NotFound
   */
  require(slug: string): HeldProject {
    const held = this.find(slug);
    if (held === null) throw noSuchProject(slug);
    return held;
  }

  /** The settings that hold in a project: its own, and the server's for the others. */
  settingsOf(id: string): WorkSettings {
    return effective(this.get(id)?.project.settings ?? NO_SETTINGS, this.#defaults);
  }

  /**
   * Makes a project with an empty repository. If the caller has an account, it becomes the first
   * member, with the role `admin`.
   *
   * @throws Conflict if the slug is taken or there are too many projects
   * @throws Unavailable if the disk refuses the write
   */
  async create(request: NewProject, caller: Caller): Promise<HeldProject> {
    const { slug, name = slug, description, visibility, agents_md: hasGuide = false } = request;
    if (this.find(slug) !== null) throw slugTaken(slug);
    if (this.#directory.size >= MAX_PROJECTS) {
      throw new Conflict(`The server has ${MAX_PROJECTS} projects, which is the limit`);
    }
    const now = this.#clock();
    const id = newUlid(now);
    const project: Project = {
      id,
      slug,
      name,
      description,
      visibility,
      channel: null,
      settings: NO_SETTINGS,
      createdAt: now,
      archivedAt: null,
      home: this.#repositories.homes.self,
    };
    await this.#repositories.create(project, caller, {
      guideBy: hasGuide ? caller.principal.name : null,
      isTaken: () => this.find(slug) !== null,
      commit: async () => {
        await this.#database.commit({
          statements: this.#statements.creation(project, caller.principal.id),
          events: [this.#event(project, "project.created", { visibility }, caller)],
        });
      },
    }).catch((error: unknown) => {
      throw error instanceof Duplicate ? slugTaken(slug) : error;
    });
    return this.require(slug);
  }

  /**
   * Changes a project's description and settings, or archives it.
   *
   * @throws NotFound
   */
  async change(slug: string, change: ProjectChange, caller: Caller): Promise<HeldProject> {
    const { project } = this.require(slug);
    const { archived, claim_seconds, strikes, landing, ...given } = change;
    const fields: Partial<Project> = Object.fromEntries(
      Object.entries(given).filter(([key, value]) =>
        value !== undefined && value !== project[key as keyof typeof given]
      ),
    );
    const settings = changed(project.settings, { claim_seconds, strikes, landing });
    const differing = differences(project.settings, settings);
    const isArchived = project.archivedAt !== null;
    const archivedAt = archived === undefined || archived === isArchived
      ? project.archivedAt
      : archived
      ? this.#clock()
      : null;
    const names = [...Object.keys(fields), ...differing];
    const turns = archivedAt !== project.archivedAt;
    if (names.length === 0 && !turns) return this.require(slug);
    const type = archivedAt === null ? "project.unarchived" : "project.archived";
    await this.#commit(slug, {
      statements: [this.#statements.change(project, { ...fields, settings, archivedAt })],
      events: [
        ...(names.length === 0
          ? []
          : [this.#event(project, "project.changed", { fields: names }, caller)]),
        ...(turns ? [this.#event(project, type, {}, caller)] : []),
      ],
    });
    return this.require(slug);
  }

  /**
   * Removes a project and frees its slug. Its repository is moved aside, not erased.
   *
   * @throws NotFound
   */
  async remove(slug: string, caller: Caller): Promise<void> {
    const { project } = this.require(slug);
    await this.#repositories.remove(project, caller, () =>
      this.#commit(slug, {
        statements: [
          this.#statements.removal(project, this.#clock()),
          this.#tokens.endingAllOfProject(project.id),
        ],
        events: [this.#event(project, "project.removed", {}, caller)],
      }));
  }

  /**
   * The change that gives a project another home; it undoes itself if its home is not `from`.
   *
   * @param restored how far the events of a restored repository go; absent if the project moves
   */
  moving(
    project: Project,
    { from, to }: { readonly from: string; readonly to: string },
    origin: Origin,
    restored?: RepositoryPlace,
  ): Change {
    const data = { from, to, restored: restored !== undefined };
    const places = this.#repositories.places;
    return {
      statements: [
        this.#statements.homing(project, from, to),
        ...restored === undefined ? [] : [places.keeping(project, restored)],
      ],
      events: [projectEvent(project, "project.moved", data, { origin, time: this.#clock() })],
    };
  }

  /** The members of a project, by name. */
  members({ members }: HeldProject): Member[] {
    return [...members].flatMap(([id, role]) => {
      const account = this.#accounts.get(id);
      return account === null ? [] : [{ name: account.name, kind: account.kind, role }];
    }).sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /**
   * Sets the role of an account in a project; adds the account if it is no member yet.
   *
   * @returns the member, and whether it is new
   * @throws NotFound if there is no such project or account; Conflict
   */
  async setMember(
    slug: string,
    name: string,
    role: ProjectRole,
    caller: Caller,
  ): Promise<{ readonly member: Member; readonly isNew: boolean }> {
    const { project, members } = this.require(slug);
    const account = this.#account(name);
    if (account.revokedAt !== null) throw new Conflict(`"${account.name}" is revoked`);
    const isNew = !members.has(account.id);
    const member = { name: account.name, kind: account.kind, role };
    if (members.get(account.id) === role) return { member, isNew };
    if (isNew && members.size >= MAX_MEMBERS) {
      throw new Conflict(`A project has at most ${MAX_MEMBERS} members`);
    }
    await this.#commit(slug, {
      statements: [
        this.#accounts.guard(account),
        this.#statements.membership(project, account.id, { role, now: this.#clock() }),
      ],
      events: [
        this.#event(
          project,
          "project.member_changed",
          { account: account.name, role },
          caller,
        ),
      ],
    });
    return { member, isNew };
  }

  /** @throws NotFound if there is no such project or member */
  async removeMember(slug: string, name: string, caller: Caller): Promise<void> {
    const { project, members } = this.require(slug);
    const account = this.#account(name);
    if (!members.has(account.id)) throw noSuchMember(name);
    await this.#database.commit({
      statements: [this.#statements.endOfMembership(project, account.id)],
      events: [
        this.#event(
          project,
          "project.member_changed",
          { account: account.name, role: null },
          caller,
        ),
      ],
    }).catch((error: unknown) => {
      throw error instanceof Unchanged ? noSuchMember(name) : error;
    });
  }

  /** Adds or removes an account's star on a project; returns whether that changed anything. */
  async star(slug: string, accountId: string, starred: boolean): Promise<boolean> {
    const { project, stars } = this.require(slug);
    if (stars.has(accountId) === starred) return false;
    await this.#database.commit({
      statements: [
        starred
          ? this.#statements.star(project, accountId, this.#clock())
          : this.#statements.endOfStar(project, accountId),
      ],
    });
    return true;
  }

  /** Commits a change, if the project and its accounts still exist. */
  async #commit(slug: string, change: Parameters<Database["commit"]>[0]): Promise<void> {
    try {
      await this.#database.commit(change);
    } catch (error) {
      throw error instanceof Unchanged
        ? new NotFound(`The project "${slug}" or the account has just been removed`)
        : error;
    }
  }

  #account(name: string): Account {
    const account = this.#accounts.find(name);
    if (account === null) throw new NotFound(`There is no account "${name}"`);
    return account;
  }

  #event<Type extends ProjectEventType>(
    project: Project,
    type: Type,
    data: ProjectEventData<Type>,
    caller: Caller,
  ) {
    return projectEvent(project, type, data, { origin: originOf(caller), time: this.#clock() });
  }
}

function slugTaken(slug: string): Conflict {
  return new Conflict(`The project "${slug}" already exists`);
}

function noSuchMember(name: string): NotFound {
  return new NotFound(`"${name}" is no member of the project`);
}
