import type { Updateable } from "kysely";
import {
  type Database,
  type Directory,
  type NewEvent,
  type Statement,
  statement,
  type Tables,
  Unchanged,
} from "../../engines/database/mod.ts";
import { Conflict, NotFound } from "../../kernel/errors.ts";
import { type EventLog, newEvent, type Origin } from "../../engines/events/mod.ts";
import { type Caller, originOf } from "../../people/identity/mod.ts";
import { type Project, projectEvent, type Projects } from "../projects/mod.ts";
import { newUlid } from "../../kernel/ulid.ts";
import { DeliveryLog } from "./delivery_log.ts";
import { type SecretKey, secretOf, viewOfWebhook, type Webhook, webhookOf } from "./records.ts";
import type { IssuedWebhook, NewWebhook, WebhookChange, WebhookView } from "./schemas.ts";

/** Most webhooks of one project, and most that get the events of all projects. */
const MAX_WEBHOOKS = 50;

export interface WebhooksOptions {
  readonly database: Database;
  readonly projects: Pick<Projects, "get">;
  readonly eventLog: Pick<EventLog, "newest">;
  readonly key: SecretKey;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** The project of a webhook; null for all projects. */
export type WebhookOwner = Project | null;

/** Webhooks, all held in memory. A secret is derived from its webhook's id and never stored. */
export class Webhooks implements Directory {
  readonly tables = ["webhooks"] as const;
  readonly deliveries: DeliveryLog;
  readonly #options: WebhooksOptions;
  readonly #byId = new Map<string, Webhook>();
  #onActive: () => void = () => {};

  private constructor(options: WebhooksOptions) {
    this.#options = options;
    this.deliveries = new DeliveryLog(options);
  }

  /** Reads every webhook from the database. */
  static async open(options: WebhooksOptions): Promise<Webhooks> {
    const webhooks = new Webhooks(options);
    await options.database.keepCurrent(webhooks);
    return webhooks;
  }

  async load(): Promise<void> {
    const rows = await this.#options.database.tables.selectFrom("webhooks").selectAll().execute();
    this.#byId.clear();
    for (const row of rows) this.#byId.set(row.id, webhookOf(row));
  }

  /** Calls a listener when a delivery may be due. */
  onActive(listener: () => void): void {
    this.#onActive = listener;
  }

  /** The webhooks of existing projects, and those of all projects. */
  all(): readonly Webhook[] {
    return [...this.#byId.values()].filter(({ projectId }) =>
      projectId === null || this.#options.projects.get(projectId) !== null
    );
  }

  get(id: string): Webhook | null {
    return this.#byId.get(id) ?? null;
  }

  /** The webhooks of a project, or those of all projects; oldest first. */
  list(owner: WebhookOwner): readonly WebhookView[] {
    return this.#of(owner).map((webhook) => this.#view(webhook));
  }

  /** @throws NotFound */
  show(owner: WebhookOwner, id: string): WebhookView {
    return this.#view(this.require(owner, id));
  }

  /** @throws NotFound if there is no such webhook, or it belongs to another project */
  require(owner: WebhookOwner, id: string): Webhook {
    const webhook = this.get(id);
    if (webhook === null || webhook.projectId !== (owner?.id ?? null)) throw noSuchWebhook(id);
    return webhook;
  }

  /** @throws Conflict if there are too many */
  async create(owner: WebhookOwner, request: NewWebhook, caller: Caller): Promise<IssuedWebhook> {
    const { database, clock, eventLog, key } = this.#options;
    if (this.#of(owner).length >= MAX_WEBHOOKS) {
      throw new Conflict(`There are already ${MAX_WEBHOOKS} webhooks, which is the limit`);
    }
    const now = clock();
    const row = {
      id: newUlid(now),
      project_id: owner?.id ?? null,
      url: new URL(request.url).href,
      secret_version: 1,
      secret_since: now,
      types: [...new Set(request.types)].join(","),
      is_active: 1,
      cursor: eventLog.newest,
      failing_since: null,
      created_at: now,
    };
    const webhook = webhookOf(row);
    await database.commit({
      statements: [
        statement(database.tables.insertInto("webhooks").values(row), {
          committed: () => void this.#byId.set(webhook.id, webhook),
        }),
      ],
      events: [this.#event(webhook, "created", originOf(caller))],
    });
    return { ...this.#view(webhook), secret: await secretOf(key, webhook.id, 1) };
  }

  /**
   * Changes a webhook. If it becomes active, it gets only later events.
   *
   * @throws NotFound
   */
  async change(
    owner: WebhookOwner,
    id: string,
    { url, types, active }: WebhookChange,
    caller: Caller,
  ): Promise<WebhookView> {
    const webhook = this.require(owner, id);
    const begins = active === true && !webhook.isActive;
    const changes = {
      ...(url === undefined ? {} : { url: new URL(url) }),
      ...(types === undefined ? {} : { types: [...new Set(types)] }),
      ...(active === undefined ? {} : { isActive: active }),
      ...(begins ? { cursor: this.#options.eventLog.newest, failingSince: null } : {}),
    };
    if (Object.keys(changes).length === 0) return this.#view(webhook);
    await this.#update(webhook, changes, [this.#event(webhook, "changed", originOf(caller))]);
    this.#onActive();
    return this.show(owner, id);
  }

  /**
   * Gives a webhook a new secret. The previous one also signs for a day.
   *
   * @throws NotFound
   */
  async rotate(owner: WebhookOwner, id: string, caller: Caller): Promise<IssuedWebhook> {
    const webhook = this.require(owner, id);
    const secretVersion = webhook.secretVersion + 1;
    await this.#update(webhook, { secretVersion, secretSince: this.#options.clock() }, [
      this.#event(webhook, "rotated", originOf(caller)),
    ]);
    const secret = await secretOf(this.#options.key, id, secretVersion);
    return { ...this.show(owner, id), secret };
  }

  /**
   * Removes a webhook with its deliveries.
   *
   * @throws NotFound
   */
  async remove(owner: WebhookOwner, id: string, caller: Caller): Promise<void> {
    const webhook = this.require(owner, id);
    const { database } = this.#options;
    const removal = database.tables.deleteFrom("webhooks").where("id", "=", id);
    await this.#commit(id, [
      statement(removal, { mustChange: true, committed: () => void this.#byId.delete(id) }),
    ], [this.#event(webhook, "removed", originOf(caller))]);
  }

  /** Records since when a webhook fails; null if it works again. */
  failing(webhook: Webhook, since: number | null): readonly Statement[] {
    return webhook.failingSince === since
      ? []
      : [this.#updating(webhook.id, { failingSince: since }, false)];
  }

  /** Disables a webhook that has failed for too long: a statement and its event. */
  disabling(
    webhook: Webhook,
    origin: Origin,
  ): { readonly statements: readonly Statement[]; readonly events: readonly NewEvent[] } {
    return {
      statements: [this.#updating(webhook.id, { isActive: false }, false)],
      events: [this.#event(webhook, "disabled", origin)],
    };
  }

  /** The secrets of these versions. */
  secrets(webhook: Webhook, versions: readonly number[]): Promise<string[]> {
    const { key } = this.#options;
    return Promise.all(versions.map((version) => secretOf(key, webhook.id, version)));
  }

  #of(owner: WebhookOwner): Webhook[] {
    const id = owner?.id ?? null;
    return [...this.#byId.values()].filter(({ projectId }) => projectId === id)
      .sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  #view(webhook: Webhook): WebhookView {
    const { projectId } = webhook;
    const held = projectId === null ? null : this.#options.projects.get(projectId);
    return viewOfWebhook(webhook, held?.project.slug ?? null);
  }

  #update(webhook: Webhook, change: Partial<Webhook>, events: readonly NewEvent[]): Promise<void> {
    return this.#commit(webhook.id, [this.#updating(webhook.id, change, true)], events);
  }

  #updating(id: string, change: Partial<Webhook>, mustChange: boolean): Statement {
    const update = this.#options.database.tables.updateTable("webhooks").set(columnsOf(change))
      .where("id", "=", id);
    return statement(update, {
      mustChange,
      committed: () => {
        const held = this.#byId.get(id);
        if (held !== undefined) this.#byId.set(id, { ...held, ...change });
      },
    });
  }

  async #commit(
    id: string,
    statements: readonly Statement[],
    events: readonly NewEvent[],
  ): Promise<void> {
    try {
      await this.#options.database.commit({ statements, events });
    } catch (error) {
      throw error instanceof Unchanged ? noSuchWebhook(id) : error;
    }
  }

  #event(webhook: Webhook, action: string, origin: Origin): NewEvent {
    const { id, projectId, url } = webhook;
    const time = this.#options.clock();
    const held = projectId === null ? null : this.#options.projects.get(projectId);
    if (held === null) {
      const { host } = url;
      return newEvent("webhook.changed", { id, host, action }, origin, time);
    }
    return projectEvent(held.project, "project.webhook_changed", { id, action }, { origin, time });
  }
}

function columnsOf(change: Partial<Webhook>): Updateable<Tables["webhooks"]> {
  const { url, types, isActive, cursor, failingSince, secretVersion, secretSince } = change;
  return {
    ...(url === undefined ? {} : { url: url.href }),
    ...(types === undefined ? {} : { types: types.join(",") }),
    ...(isActive === undefined ? {} : { is_active: isActive ? 1 : 0 }),
    ...(cursor === undefined ? {} : { cursor }),
    ...(failingSince === undefined ? {} : { failing_since: failingSince }),
    ...(secretVersion === undefined ? {} : { secret_version: secretVersion }),
    ...(secretSince === undefined ? {} : { secret_since: secretSince }),
  };
}

function noSuchWebhook(id: string): NotFound {
  return new NotFound(`There is no webhook "${id}"`);
}
