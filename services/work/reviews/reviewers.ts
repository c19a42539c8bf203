import { type Database, type Statement, statement } from "../../engines/database/mod.ts";
import { Invalid } from "../../kernel/errors.ts";
import type { Account, AccountDirectory } from "../../people/identity/mod.ts";
import type { Project, Projects } from "../projects/mod.ts";
import type { Review } from "./records.ts";

/** Most reviewers of one review. */
const MAX_REVIEWERS = 20;

export interface ReviewersOptions {
  readonly database: Database;
  readonly accounts: Pick<AccountDirectory, "find" | "get">;
  readonly projects: Pick<Projects, "get">;
}

/** Accounts that are asked to review a change. */
export class Reviewers {
  readonly #options: ReviewersOptions;
  readonly #tables: Database["tables"];

  constructor(options: ReviewersOptions) {
    this.#options = options;
    this.#tables = options.database.tables;
  }

  /** The names of the reviewers of some reviews, by the review's id, sorted. */
  async of(reviews: readonly Pick<Review, "id">[]): Promise<ReadonlyMap<string, string[]>> {
    const names = new Map(reviews.map(({ id }): [string, string[]] => [id, []]));
    if (names.size === 0) return names;
    const rows = await this.#tables.selectFrom("review_requests")
      .select(["review_id", "account_id"]).where("review_id", "in", [...names.keys()]).execute();
    for (const { review_id, account_id } of rows) {
      const account = this.#options.accounts.get(account_id);
      if (account !== null) names.get(review_id)?.push(account.name);
    }
    for (const list of names.values()) list.sort();
    return names;
  }

  /**
   * The accounts with these names, each once.
   *
   * @param authors keys of the change's authors
   * @throws Invalid if one of them cannot review the change
   */
  resolve(project: Project, names: readonly string[], authors: readonly string[]): Account[] {
    const { accounts, projects } = this.#options;
    const found = new Map<string, Account>();
    for (const name of names) {
      const account = accounts.find(name);
      if (account === null || account.revokedAt !== null) {
        throw new Invalid(`There is no account "${name}"`);
      }
      if (authors.includes(account.id)) {
        throw new Invalid(`"${account.name}" wrote the change and cannot review it`);
      }
      const role = projects.get(project.id)?.members.get(account.id);
      if (account.kind !== "admin" && role !== "write" && role !== "admin") {
        throw new Invalid(
          `"${account.name}" must have the role write or admin in the project to review`,
        );
      }
      found.set(account.id, account);
    }
    return [...found.values()];
  }

  /** Those of some accounts that have not been asked to review a change. */
  async unasked<Asked extends Pick<Account, "name">>(
    review: Pick<Review, "id">,
    accounts: readonly Asked[],
  ): Promise<readonly Asked[]> {
    if (accounts.length === 0) return [];
    const known = new Set((await this.of([review])).get(review.id));
    return accounts.filter(({ name }) => !known.has(name));
  }

  /** @throws Invalid if a review would have too many reviewers with some more */
  async requireRoom(review: Pick<Review, "id">, more: number): Promise<void> {
    const known = (await this.of([review])).get(review.id) ?? [];
    if (known.length + more <= MAX_REVIEWERS) return;
    throw new Invalid(`A review has at most ${MAX_REVIEWERS} reviewers`);
  }

  /** Adds reviewers; earlier ones stay. */
  insertion(
    { id }: Pick<Review, "id">,
    accounts: readonly Pick<Account, "id">[],
    now: number,
  ): Statement[] {
    return accounts.map((account) =>
      statement(
        this.#tables.insertInto("review_requests")
          .values({ review_id: id, account_id: account.id, requested_at: now })
          .onConflict((conflict) => conflict.doNothing()),
      )
    );
  }

  removal({ id }: Pick<Review, "id">, account: Pick<Account, "id">): Statement {
    return statement(
      this.#tables.deleteFrom("review_requests")
        .where("review_id", "=", id).where("account_id", "=", account.id),
    );
  }
}
