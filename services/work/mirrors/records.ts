import type { Selectable } from "kysely";
import type { Tables } from "../../engines/database/mod.ts";
import type { SealingPurpose } from "../../people/identity/mod.ts";
import type { MirrorView, RemoteView } from "./schemas.ts";

export type MirrorRow = Selectable<Tables["project_mirrors"]>;

/** A remote with its sealed password. */
export interface StoredRemote {
  readonly url: string;
  readonly username: string | null;
  readonly secret: string | null;
}

/** A remote repository, and how to log in there. */
export interface Remote {
  readonly url: URL;
  readonly credentials: { readonly username: string; readonly password: string } | null;
}

/** Work with a remote failed; the message is a sentence for the project's admins. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
}

/** A connection that failed: another attempt may succeed. */
export class ConnectionLost extends RemoteError {}

/** For what the passwords of a project's remotes are sealed. */
export function purposeOf(projectId: string): SealingPurpose {
  return { purpose: "muster mirror ", owner: projectId };
}

export function viewOfMirror(row: MirrorRow, running: boolean): MirrorView {
  return {
    git: remoteView(row.git_url, row.git_username, row.git_secret),
    fossil: remoteView(row.fossil_url, row.fossil_username, row.fossil_secret),
    pull: row.pull_git_url === null
      ? null
      : { git: remoteView(row.pull_git_url, row.pull_git_username, row.pull_git_secret)! },
    every_minutes: row.every_minutes,
    running,
    next_run_at: new Date(row.next_run_at).toISOString(),
    last_run_at: isoTime(row.last_run_at),
    last_success_at: isoTime(row.last_success_at),
    last_error: row.last_error,
    failures: row.failures,
  };
}

function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function remoteView(
  url: string | null,
  username: string | null,
  secret: string | null,
): RemoteView | null {
  return url === null ? null : { url, username, has_password: secret !== null };
}
