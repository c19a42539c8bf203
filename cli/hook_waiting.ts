/** A hook that waits in the background until the inbox of an idle agent has news. */
import { join } from "node:path";
import { claim, fitting, type InboxPlace, isHalted, readUnread, textOf } from "./hook_inbox.ts";

/** The longest wait of one hook, in milliseconds: by then, nobody works with the client. */
const LONGEST = 8 * 60 * 60 * 1000;

/** How long the server waits for a message, in seconds, and how much longer for its answer. */
const WAIT_SECONDS = 60;
const GRACE = 15_000;

/** How long other questions may take, in milliseconds. */
const BRIEF = 5000;

/** The pause before the next question to a server that is away, in milliseconds. */
const PAUSE = 2000;

/** How often to look whether the wait is over, in milliseconds. */
const LOOK = 1000;

/**
 * How often a session is woken in an hour: two agents that answer each other would wake each other
 * without end.
 */
const MOST_WAKES = 20;
const HOUR = 60 * 60 * 1000;

/** How old a mark may get that its hook has left behind, in milliseconds, and how many are read. */
const OLD = 24 * 60 * 60 * 1000;
const MOST_MARKS = 256;

/**
 * The file that says which hook waits for a session of a client. A hook waits only while it is the
 * one: the next one replaces it, and a session that works removes it.
 */
export class WaitingMark {
  readonly #folder: string;
  readonly #path: string;

  /** @param session the client's own id of its session */
  constructor(home: string, session: string) {
    const state = Deno.env.get("XDG_STATE_HOME") ?? join(home, ".local", "state");
    this.#folder = join(state, "muster", "hooks");
    this.#path = join(this.#folder, session.slice(0, 100).replaceAll(/[^\w-]/g, "_"));
  }

  /** Ends the hook that waits. */
  remove(): void {
    try {
      Deno.removeSync(this.#path);
    } catch {
      // None waits.
    }
  }

  /** Makes a hook the one that waits, and removes what others have left behind. */
  write(name: string): void {
    Deno.mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    let marks = 0;
    for (const entry of Deno.readDirSync(this.#folder)) {
      if (++marks > MOST_MARKS) break;
      removeIfOld(join(this.#folder, entry.name));
    }
    Deno.writeTextFileSync(this.#path, name, { mode: 0o600 });
  }

  /** How long the session must not be woken again, in milliseconds. */
  untilWake(): number {
    const wakes = this.#recentWakes();
    const bar = wakes[wakes.length - MOST_WAKES];
    return bar === undefined ? 0 : bar + HOUR - Date.now();
  }

  /** Counts a wake. */
  noteWake(): void {
    try {
      const wakes = [...this.#recentWakes(), Date.now()].slice(-MOST_WAKES);
      Deno.writeTextFileSync(this.#wakesPath, JSON.stringify(wakes), { mode: 0o600 });
    } catch {
      // The news have been claimed: to wake once too often is better than to lose them.
    }
  }

  /** When the session was woken within the last hour, in milliseconds since 1970. */
  #recentWakes(): readonly number[] {
    try {
      const wakes: unknown = JSON.parse(Deno.readTextFileSync(this.#wakesPath));
      const now = Date.now();
      return Array.isArray(wakes) ? wakes.filter((at) => at > now - HOUR && at <= now) : [];
    } catch {
      return [];
    }
  }

  get #wakesPath(): string {
    return `${this.#path}.wakes`;
  }

  /** Whether this hook is the one that waits. */
  isOf(name: string): boolean {
    try {
      return Deno.readTextFileSync(this.#path) === name;
    } catch {
      return false;
    }
  }
}

function removeIfOld(path: string): void {
  try {
    const { mtime } = Deno.lstatSync(path);
    if (mtime !== null && Date.now() - mtime.getTime() > OLD) Deno.removeSync(path);
  } catch {
    // Another hook has removed it.
  }
}

/**
 * Whether the client ends when its turn does, as `claude -p` says of itself. Before it ends, it waits
 * half a minute for hooks in the background, which then have nobody to wake.
 */
export function endsWithTurn(): boolean {
  return Deno.env.get("CLAUDE_CODE_ENTRYPOINT") === "sdk-cli";
}

/**
 * Waits for news of an idle agent: until there are some, another hook waits for the session or the
 * session works again, the client ends, eight hours have passed, or the server refuses the agent. A
 * session that has been woken often waits before it asks.
 *
 * @returns the news for the model; null if the agent should not be woken
 */
export async function waitForNews(place: InboxPlace, mark: WaitingMark): Promise<string | null> {
  const name = crypto.randomUUID();
  mark.write(name);
  const client = Deno.ppid;
  const over = new AbortController();
  const isOver = () => !mark.isOf(name) || Deno.ppid !== client;
  const looks = setInterval(() => isOver() && over.abort(), LOOK);
  const end = setTimeout(() => over.abort(), LONGEST);
  try {
    const { signal } = over;
    await pause(mark.untilWake(), signal);
    while (!signal.aborted) {
      const news = await nextNews(place, signal, isOver);
      if (news === "none yet") continue;
      if (news !== null) mark.noteWake();
      return news;
    }
    return null;
  } finally {
    clearInterval(looks);
    clearTimeout(end);
    if (mark.isOf(name)) mark.remove();
  }
}

/** Asks the server once. */
async function nextNews(
  place: InboxPlace,
  signal: AbortSignal,
  isOver: () => boolean,
): Promise<string | null | "none yet"> {
  const asked = { timeout: WAIT_SECONDS * 1000 + GRACE, signal };
  const unread = await readUnread(place, WAIT_SECONDS, asked);
  if (unread === "refused") return null;
  if (unread === "away") return await awhile(signal);
  if (unread.value.length === 0) return "none yet";
  const brief = { timeout: BRIEF, signal };
  const halted = await isHalted(place, brief);
  if (halted === "refused" || isOver()) return null;
  if (halted === "away") return await awhile(signal);
  if (halted.value) return null;
  const shown = fitting(unread.value);
  const own = await claim(place, shown, brief);
  if (own === "refused") return null;
  // It may have been claimed: to show it twice is better than never.
  const news = own === "away" ? shown : shown.filter(({ id }) => own.value.includes(id));
  if (news.length === 0) return "none yet";
  return textOf(unread.name, news, shown.length < unread.value.length);
}

async function awhile(signal: AbortSignal): Promise<"none yet"> {
  await pause(PAUSE, signal);
  return "none yet";
}

/** Waits some milliseconds, or until a signal. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", over);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", over, { once: true });
  });
}
