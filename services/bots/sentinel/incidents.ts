import { z } from "zod";
import { foldCase } from "../../irc/mod.ts";
import { isWorse, SEVERITIES } from "./rules.ts";

/** Incidents that are kept. */
const MAX_INCIDENTS = 200;

const incidentSchema = z.object({
  number: z.int().min(1),
  /** Unix milliseconds. */
  time: z.number(),
  channel: z.string(),
  nick: z.string(),
  /** The proven account; null for a guest. */
  account: z.string().nullable(),
  severity: z.enum(SEVERITIES),
  reason: z.string(),
  source: z.enum(["rule", "model"]),
  /** The id of the message. */
  message: z.string(),
  dismissed: z.boolean(),
});

/** Something that somebody said against the policy. */
export type Incident = z.infer<typeof incidentSchema>;

export const incidentsSchema = z.object({
  next: z.int().min(1),
  incidents: z.array(incidentSchema),
});

/** The incidents, and which of them are new. */
export class Incidents {
  #next: number;
  #incidents: Incident[];

  constructor(state: z.infer<typeof incidentsSchema> | null) {
    this.#next = state?.next ?? 1;
    this.#incidents = state?.incidents ?? [];
  }

  /** For the next start. */
  get state(): z.infer<typeof incidentsSchema> {
    return { next: this.#next, incidents: this.#incidents };
  }

  /**
   * Adds an incident, unless it is about a known message, or the same speaker was reported in the
   * same channel during the cooldown for something as bad.
   *
   * @param cooldown in milliseconds
   */
  add(incident: Omit<Incident, "number" | "dismissed">, cooldown: number): Incident | null {
    const isKnown = this.#incidents.some((known) =>
      known.message === incident.message ||
      (isSameSpeaker(known, incident) && incident.time - known.time < cooldown &&
        !isWorse(incident.severity, known.severity))
    );
    if (isKnown) return null;
    const added = { ...incident, number: this.#next++, dismissed: false };
    this.#incidents = [...this.#incidents, added].slice(-MAX_INCIDENTS);
    return added;
  }

  /** Dismisses incidents; returns how many. */
  dismiss(isMeant: (incident: Incident) => boolean): number {
    const meant = this.#incidents.filter((one) => !one.dismissed && isMeant(one));
    this.#incidents = this.#incidents.map((one) =>
      meant.includes(one) ? { ...one, dismissed: true } : one
    );
    return meant.length;
  }

  /** The last incidents of a channel, or of all with null; the newest at the end. */
  list(channel: string | null, most: number, isOpen = false): Incident[] {
    return this.#incidents.filter((one) =>
      (channel === null || foldCase(one.channel) === foldCase(channel)) &&
      !(isOpen && one.dismissed)
    ).slice(-most);
  }
}

function isSameSpeaker(
  one: Pick<Incident, "channel" | "nick" | "account">,
  other: Pick<Incident, "channel" | "nick" | "account">,
): boolean {
  if (foldCase(one.channel) !== foldCase(other.channel)) return false;
  if (one.account === null || other.account === null) {
    return one.account === other.account && foldCase(one.nick) === foldCase(other.nick);
  }
  return foldCase(one.account) === foldCase(other.account);
}
