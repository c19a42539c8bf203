import type { GitNoticeKind, GitNotices } from "./types.ts";

/** Most notices kept in full; others are only counted. */
const MAX_KEPT = 200;
/** Most remembered subjects, so that each is reported once. */
const MAX_REMEMBERED = 10_000;
/** Longest subject, in characters. */
const MAX_SUBJECT_LENGTH = 500;

/** Collects everything that could not be imported or exported unchanged. */
export class NoticeLog {
  readonly #counts: Partial<Record<GitNoticeKind, number>> = {};
  readonly #first: { kind: GitNoticeKind; subject: string; message: string }[] = [];
  readonly #told = new Set<string>();

  /** Adds a notice, once for each subject. */
  add(kind: GitNoticeKind, fullSubject: string, message: string): void {
    const subject = fullSubject.slice(0, MAX_SUBJECT_LENGTH);
    const key = `${kind} ${subject}`;
    if (this.#told.has(key)) return;
    if (this.#told.size < MAX_REMEMBERED) this.#told.add(key);
    this.#counts[kind] = (this.#counts[kind] ?? 0) + 1;
    if (this.#first.length < MAX_KEPT) this.#first.push({ kind, subject, message });
  }

  /** The notices so far. */
  report(): GitNotices {
    return { counts: { ...this.#counts }, first: [...this.#first] };
  }
}
