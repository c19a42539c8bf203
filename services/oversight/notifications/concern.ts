import type { About, AddressedKind } from "../../chat/inboxes/mod.ts";

/** The notification of one account about an event. */
export interface Concern {
  /** The account's internal id, with the name of an actor who may be a session; or a name. */
  readonly to: { readonly key: string; readonly name?: string } | { readonly name: string };
  readonly kind: Exclude<AddressedKind, "message">;
  /** Who caused it. */
  readonly from: string;
  readonly text: string;
  /** Whether it tells more than that the event happened, so that who caused it is told too. */
  readonly isNews?: boolean;
  /** Whether it reports a failure, which no summary of other lines may hide. */
  readonly isFailure?: boolean;
  readonly about?: Omit<About, "project">;
}
