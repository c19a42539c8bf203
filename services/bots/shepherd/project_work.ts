/** A ticket of a project. */
export interface WorkTicket {
  /** The beginning of its id, which names it. */
  readonly id: string;
  readonly title: string;
}

/** A ticket that somebody works on. */
export interface ClaimedTicket extends WorkTicket {
  readonly agent: string;
  /** When the claim ends if it is not renewed, in Unix milliseconds. */
  readonly expiresAt: number;
}

/** The open tickets of a project: a bounded number of each kind. */
export interface ProjectWork {
  readonly project: string;
  readonly unclaimed: readonly WorkTicket[];
  /** How many there are in all. */
  readonly unclaimedTotal: number;
  readonly claims: readonly ClaimedTicket[];
}
