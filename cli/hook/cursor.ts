/** What a hook has shown already: a file with the timestamp of the last message. */
import { join } from "node:path";

/** Where the cursor of an agent on one server is kept. */
export function cursorPath(home: string, nick: string, url: string): string {
  const folder = Deno.env.get("XDG_STATE_HOME") ?? join(home, ".local", "state");
  const { host } = new URL(url);
  const name = `${nick.toLowerCase()}@${host}`.replaceAll(/[^\w.@-]/g, "_");
  return join(folder, "muster", "hooks", name);
}

/** The last timestamp that was shown; null if none was. */
export async function readCursor(path: string): Promise<string | null> {
  try {
    return timestampOf(await Deno.readTextFile(path));
  } catch {
    return null;
  }
}

/**
 * Runs a function with the cursor as it is now, while no other hook does, and stores what it
 * returns. The function prints before it returns: if the hook is killed in between, the next one
 * shows the messages again.
 */
export async function moveCursor(
  path: string,
  run: (cursor: string | null) => string | null,
): Promise<void> {
  await Deno.mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
  using file = await Deno.open(path, { read: true, write: true, create: true, mode: 0o600 });
  await file.lock(true);
  const buffer = new Uint8Array(64);
  const count = await file.read(buffer) ?? 0;
  const next = run(timestampOf(new TextDecoder().decode(buffer.subarray(0, count))));
  if (next === null) return;
  await file.seek(0, Deno.SeekMode.Start);
  await file.truncate();
  await file.write(new TextEncoder().encode(`${next}\n`));
}

function timestampOf(text: string): string | null {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z\s*$/.test(text) ? text.trim() : null;
}
