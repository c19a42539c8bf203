import { CardReader } from "./card_reader.ts";
import { type PresentedLogin, readLogin } from "./login_card.ts";

/** What a message asks for, as far as that decides who answers it. */
export interface SyncSurvey {
  readonly login: PresentedLogin | null;
  /** It clones: the first message of a clone carries no login. */
  readonly isClone: boolean;
  /** It asks for artifacts, unversioned files or settings. */
  readonly isPull: boolean;
  /** It announces or brings something, or locks a check-in. */
  readonly isPush: boolean;
}

/** Pragmas that change the server. */
const LOCKING: ReadonlySet<string> = new Set(["ci-lock", "ci-unlock"]);

/**
 * Reads all cards of a message, without acting on them.
 *
 * @param cookie as {@link readLogin} takes it.
 * @throws {FossilError} `invalid` or `limit` if a card is malformed.
 */
export function surveyMessage(message: Uint8Array, cookie: string | null): SyncSurvey {
  const login = readLogin(message, cookie);
  let [isClone, isPull, isPush] = [false, false, false];
  for (const card of new CardReader(message)) {
    switch (card.kind) {
      case "clone":
        isClone = true;
        break;
      case "pull":
      case "reqconfig":
      case "uvgimme":
        isPull = true;
        break;
      case "push":
      case "uvfile":
      case "config":
        isPush = true;
        break;
      case "pragma":
        isPush ||= LOCKING.has(card.name);
        break;
    }
  }
  return { login, isClone, isPull, isPush };
}
