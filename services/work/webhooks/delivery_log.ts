import {
  type Database,
  type Statement,
  statement,
  type Tables,
} from "../../engines/database/mod.ts";
import { Conflict, NotFound } from "../../kernel/errors.ts";
import type { Updateable } from "kysely";
import { newUlid } from "../../kernel/ulid.ts";
import { type DeliveryRow, viewOfDelivery, type Webhook } from "./records.ts";
import type { DeliveryView } from "./schemas.ts";

/** Finished deliveries kept for each webhook. */
const KEPT = 1000;

/** Waiting deliveries kept for each webhook; older ones are marked as failed. */
const MAX_WAITING = 10_000;

export interface DeliveryLogOptions {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** The finished and waiting deliveries of webhooks. */
export class DeliveryLog {
  readonly #database: Database;
  readonly #clock: () => number;
  #onDue: () => void = () => {};

  constructor(options: DeliveryLogOptions) {
    this.#database = options.database;
    this.#clock = options.clock;
  }

  /** Calls a listener when a delivery is due at once. */
  onDue(listener: () => void): void {
    this.#onDue = listener;
  }

  /** The deliveries of a webhook, newest first; with `before`, only older ones. */
  async list(
    { id }: Webhook,
    { limit, before }: { readonly limit: number; readonly before?: string | undefined },
  ): Promise<DeliveryView[]> {
    const query = this.#database.tables.selectFrom("webhook_deliveries").selectAll()
      .where("webhook_id", "=", id).orderBy("id", "desc").limit(limit);
    const rows = await (before === undefined ? query : query.where("id", "<", before)).execute();
    return rows.map(viewOfDelivery);
  }

  /** @throws NotFound */
  async show(
    webhook: Webhook,
    deliveryId: string,
  ): Promise<DeliveryView & { readonly body: string }> {
    const row = await this.#database.tables.selectFrom("webhook_deliveries").selectAll()
      .where("webhook_id", "=", webhook.id).where("id", "=", deliveryId).executeTakeFirst();
    if (row === undefined) throw new NotFound(`There is no delivery "${deliveryId}"`);
    return { ...viewOfDelivery(row), body: row.body };
  }

  /**
   * Sends a test delivery.
   *
   * @throws Conflict if the webhook is not active
   */
  async ping(webhook: Webhook): Promise<DeliveryView> {
    requireActive(webhook);
    const now = this.#clock();
    const data = { webhook: webhook.id };
    const row = this.row(webhook, { type: "ping", seq: null, time: now, data });
    await this.#database.commit({ statements: [this.insertion([row])] });
    this.#onDue();
    return viewOfDelivery(row);
  }

  /**
   * Sends a delivery again, under the same id.
   *
   * @throws NotFound; Conflict if the webhook is not active
   */
  async redeliver(webhook: Webhook, deliveryId: string): Promise<DeliveryView> {
    requireActive(webhook);
    await this.show(webhook, deliveryId);
    const change = {
      status: "pending",
      attempts: 0,
      next_attempt_at: this.#clock(),
      finished_at: null,
    } as const;
    await this.#database.commit({ statements: [this.update(deliveryId, change)] });
    this.#onDue();
    const { body: _, ...view } = await this.show(webhook, deliveryId);
    return view;
  }

  /** The row of a new delivery. */
  row(
    { id }: Webhook,
    { type, seq, time, data }: {
      readonly type: string;
      readonly seq: number | null;
      /** Unix milliseconds. */
      readonly time: number;
      readonly data: unknown;
    },
  ): DeliveryRow {
    const now = this.#clock();
    return {
      id: newUlid(now),
      webhook_id: id,
      event_seq: seq,
      type,
      body: JSON.stringify({ type, timestamp: new Date(time).toISOString(), data }),
      status: "pending",
      attempts: 0,
      next_attempt_at: now,
      response_status: null,
      error: null,
      milliseconds: null,
      created_at: now,
      finished_at: null,
    };
  }

  insertion(rows: readonly DeliveryRow[]): Statement {
    return statement(this.#database.tables.insertInto("webhook_deliveries").values(rows));
  }

  update(id: string, change: Updateable<Tables["webhook_deliveries"]>): Statement {
    return statement(
      this.#database.tables.updateTable("webhook_deliveries").set(change).where("id", "=", id),
    );
  }

  /** Due deliveries, the longest overdue first, without those of busy webhooks. */
  async due(
    { besides, webhooks, limit }: {
      /** Ids of the deliveries that are being sent. */
      readonly besides: readonly string[];
      /** Ids of the webhooks that can send. */
      readonly webhooks: readonly string[];
      readonly limit: number;
    },
  ): Promise<DeliveryRow[]> {
    if (webhooks.length === 0) return [];
    const query = this.#waiting(besides, webhooks).selectAll()
      .where("next_attempt_at", "<=", this.#clock());
    return await query.orderBy("next_attempt_at").orderBy("id").limit(limit).execute();
  }

  /** When the next delivery is due, in Unix milliseconds; null if none is waiting. */
  async nextDue(besides: readonly string[], webhooks: readonly string[]): Promise<number | null> {
    if (webhooks.length === 0) return null;
    const row = await this.#waiting(besides, webhooks)
      .select(({ fn }) => fn.min("next_attempt_at").as("time")).executeTakeFirst();
    return row?.time ?? null;
  }

  /** Deletes old finished deliveries of a webhook, and gives up waiting ones beyond a limit. */
  async trim({ id }: Webhook): Promise<void> {
    const { tables } = this.#database;
    const newest = (status: "finished" | "waiting", offset: number) => {
      const query = tables.selectFrom("webhook_deliveries").select("id")
        .where("webhook_id", "=", id).orderBy("id", "desc").offset(offset).limit(1);
      return (status === "waiting"
        ? query.where("status", "=", "pending")
        : query.where("status", "!=", "pending")).executeTakeFirst();
    };
    const finished = await newest("finished", KEPT);
    const waiting = await newest("waiting", MAX_WAITING);
    const statements: Statement[] = [];
    if (finished !== undefined) {
      statements.push(statement(
        tables.deleteFrom("webhook_deliveries").where("webhook_id", "=", id)
          .where("status", "!=", "pending").where("id", "<=", finished.id),
      ));
    }
    if (waiting !== undefined) {
      statements.push(statement(
        tables.updateTable("webhook_deliveries").set({
          status: "failed",
          next_attempt_at: null,
          error: "Too many deliveries were waiting",
          finished_at: this.#clock(),
        }).where("webhook_id", "=", id).where("status", "=", "pending")
          .where("id", "<=", waiting.id),
      ));
    }
    if (statements.length > 0) await this.#database.commit({ statements });
  }

  #waiting(besides: readonly string[], webhooks: readonly string[]) {
    const query = this.#database.tables.selectFrom("webhook_deliveries")
      .where("next_attempt_at", "is not", null).where("webhook_id", "in", webhooks);
    return besides.length === 0 ? query : query.where("id", "not in", besides);
  }
}

function requireActive({ isActive }: Webhook): void {
  if (!isActive) throw new Conflict("The webhook is not active");
}
