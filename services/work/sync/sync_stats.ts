import type { SyncAnswer, SyncSurvey } from "../../engines/fossil/mod.ts";

/** What a message was for. */
export type SyncKind = "clone" | "pull" | "push";

/** Counts since the start. */
export interface SyncStats {
  /** Answered messages, by what they were for and whether the answer has an error. */
  readonly messages: readonly {
    readonly kind: SyncKind;
    readonly outcome: "answered" | "refused";
    readonly count: number;
  }[];
  readonly artifactsSent: number;
  readonly artifactsReceived: number;
}

/** Counts what sync does. */
export class SyncCounters {
  readonly #messages = new Map<string, SyncStats["messages"][number]>();
  #artifactsSent = 0;
  #artifactsReceived = 0;

  note(kind: SyncKind, { error, counts }: Pick<SyncAnswer, "error" | "counts">): void {
    const outcome = error === null ? "answered" : "refused";
    const key = `${kind} ${outcome}`;
    const count = (this.#messages.get(key)?.count ?? 0) + 1;
    this.#messages.set(key, { kind, outcome, count });
    this.#artifactsSent += counts.artifactsSent;
    this.#artifactsReceived += counts.artifactsReceived;
  }

  stats(): SyncStats {
    return {
      messages: [...this.#messages.values()],
      artifactsSent: this.#artifactsSent,
      artifactsReceived: this.#artifactsReceived,
    };
  }
}

/** What a message is for: a clone, or a push if it may change something. */
export function kindOf(
  { isClone, isPush }: Pick<SyncSurvey, "isClone" | "isPush">,
): SyncKind {
  if (isClone) return "clone";
  return isPush ? "push" : "pull";
}
