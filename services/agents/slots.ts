import { TooMany } from "../errors.ts";

/** What an agent can have several of at once, up to a limit. */
export const SLOTS = ["claims", "workspaces", "reviews", "calls"] as const;
export type Slot = (typeof SLOTS)[number];

/** Limits by slot; null if there is none. */
export type SlotLimits = Readonly<Record<Slot, number | null>>;

/** The limits of an agent's slots. */
export interface AgentSlots {
  /** Those that hold. */
  readonly limits: Readonly<Record<Slot, number>>;
  /** Its own ones; null if the limit is that of its type, or the general one. */
  readonly own: SlotLimits;
}

export interface SlotsOptions {
  readonly roster: {
    get(id: string): { readonly type: string; readonly slots: SlotLimits | null } | null;
  };
  /** The limits of every account without others. */
  readonly general: Readonly<Record<Slot, number>>;
  /** The limits of types of agents. */
  readonly types: Readonly<Record<string, Readonly<Partial<Record<Slot, number | undefined>>>>>;
}

/** How many slots each account has: its own number, else that of its type, else the general one. */
export class Slots {
  readonly #options: SlotsOptions;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /** @param key the internal id of an account, or another key that has no limits of its own */
  limitOf(slot: Slot, key: string | null): number {
    const { roster, general, types } = this.#options;
    const agent = key === null ? null : roster.get(key);
    return agent?.slots?.[slot] ?? types[agent?.type ?? ""]?.[slot] ?? general[slot];
  }

  of(accountId: string): AgentSlots {
    const limits = (slot: Slot) => this.limitOf(slot, accountId);
    return {
      limits: {
        claims: limits("claims"),
        workspaces: limits("workspaces"),
        reviews: limits("reviews"),
        calls: limits("calls"),
      },
      own: this.#options.roster.get(accountId)?.slots ?? NONE,
    };
  }
}

/** Most names of what fills a slot in a refusal. */
const MAX_NAMED = 20;

const NONE: SlotLimits = Object.freeze({
  claims: null,
  workspaces: null,
  reviews: null,
  calls: null,
});

/**
 * The refusal of one more in a slot that is full.
 *
 * @param filling names what fills it
 * @param advice what makes room
 */
export function slotFull(
  { slot, limit, filling, advice }: {
    readonly slot: Slot;
    readonly limit: number;
    readonly filling: readonly string[];
    readonly advice: string;
  },
  details: Readonly<Record<string, unknown>> = {},
): TooMany {
  const rest = filling.length - MAX_NAMED;
  const named = filling.slice(0, MAX_NAMED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
  const told = named === "" ? "" : ` with ${named}`;
  return new TooMany(
    `Your slot "${slot}" is full${told} (limit ${limit}): ${advice}`,
    undefined,
    details,
  );
}
