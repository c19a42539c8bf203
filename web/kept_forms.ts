import { Invalid } from "../services/kernel/errors.ts";
import { BoundedMap } from "../services/kernel/bounded_map.ts";
import type { WebSession } from "../services/people/identity/mod.ts";
import type { Scheduler } from "../services/kernel/scheduler.ts";
import { newUlid } from "../services/kernel/ulid.ts";

/** How long a form waits for its author, in milliseconds. */
const KEPT = 30 * 60_000;

/** Most forms of one account, and most characters of them. */
const OF_ACCOUNT = { forms: 10, size: 2 ** 21 };

/** Most forms of all accounts, and most characters of them. */
const OF_ALL = { forms: 500, size: 2 ** 24 };

/** Most sessions whose forms are recognized after their end. */
const MAX_SESSIONS = 10_000;

/** The query parameter that names a kept form. Without a session of its writer it opens nothing. */
const PARAMETER = "form";

/** What is said of a form that is not kept; the browser still has it. */
const TOO_LARGE =
  "Your session had ended, and this form is too large to keep: go back, copy what you wrote, and log in again";

interface KeptForm {
  readonly accountId: string;
  readonly pathname: string;
  readonly text: string;
  readonly expiresAt: number;
}

/**
 * Forms that came after their session had ended. They wait in memory until the same account logs in
 * again. The CSRF token in a form tells whose it is, so a guest can put nothing here, and nobody
 * sees what another account wrote.
 */
export class KeptForms {
  readonly #scheduler: Scheduler;
  /** The accounts of sessions by their CSRF tokens, the one used last at the end. */
  readonly #writers = new BoundedMap<string, string>(MAX_SESSIONS);
  /** By id, oldest first. */
  readonly #forms = new Map<string, KeptForm>();
  /** Whether the oldest form is about to be dropped when its time is over. */
  #isDropping = false;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Remembers whose forms carry the token of a session. */
  recognize({ csrfToken, principal: { id } }: WebSession): void {
    if (id === null) return;
    this.#writers.set(csrfToken, id);
  }

  /**
   * Keeps a form of a session that has ended.
   *
   * @returns the address at which its writer finds it; null if this process knows no such session
   * @throws Invalid if the form is too large to keep
   */
  keep(url: URL, form: URLSearchParams): string | null {
    const accountId = this.#writers.get(form.get("csrf") ?? "");
    if (accountId === undefined) return null;
    const fields = new URLSearchParams(form);
    fields.delete("csrf");
    const text = fields.toString();
    if (text.length > OF_ACCOUNT.size) throw new Invalid(TOO_LARGE);
    const now = this.#scheduler.now();
    const id = newUlid(now);
    this.#forms.set(id, { accountId, pathname: url.pathname, text, expiresAt: now + KEPT });
    this.#limit(OF_ACCOUNT, (kept) => kept.accountId === accountId);
    this.#limit(OF_ALL, () => true);
    this.#dropLater();
    const address = new URL(url);
    address.searchParams.set(PARAMETER, id);
    return address.pathname + address.search;
  }

  /** The form that an address names, if this account wrote it for this page; else null. */
  find(url: URL, session: WebSession | null): URLSearchParams | null {
    const id = url.searchParams.get(PARAMETER);
    const kept = id === null || session === null ? undefined : this.#forms.get(id);
    if (kept === undefined || kept.accountId !== session?.principal.id) return null;
    if (kept.pathname !== url.pathname || kept.expiresAt <= this.#scheduler.now()) return null;
    return new URLSearchParams(kept.text);
  }

  /** Forgets the form of an address, which its writer has sent again. */
  forget(url: URL, session: WebSession | null): void {
    const id = url.searchParams.get(PARAMETER);
    if (id !== null && this.find(url, session) !== null) this.#forms.delete(id);
  }

  /** Drops the forms one after the other when their time is over. */
  #dropLater(): void {
    const [oldest] = this.#forms.values();
    if (this.#isDropping || oldest === undefined) return;
    this.#isDropping = true;
    this.#scheduler.after(oldest.expiresAt - this.#scheduler.now(), () => {
      this.#isDropping = false;
      const now = this.#scheduler.now();
      for (const [id, { expiresAt }] of this.#forms) if (expiresAt <= now) this.#forms.delete(id);
      this.#dropLater();
    });
  }

  /** Drops the oldest beyond a limit. */
  #limit(most: typeof OF_ALL, isCounted: (kept: KeptForm) => boolean): void {
    const counted = [...this.#forms].filter(([, kept]) => isCounted(kept));
    let [forms, size] = [counted.length, 0];
    for (const [, { text }] of counted) size += text.length;
    for (const [id, { text }] of counted) {
      if (forms <= most.forms && size <= most.size) return;
      this.#forms.delete(id);
      forms--;
      size -= text.length;
    }
  }
}
