/** The folders of jobs. */
import type { Places, Sandbox } from "./sandbox.ts";
import { runScript } from "./shell.ts";

/** Makes a job's folders, with modes that no umask changes. The account of jobs may pass the first. */
export async function makeFolders(folder: string, { checkout, home }: Places): Promise<void> {
  for (const [path, mode] of [[folder, 0o711], [checkout, 0o700], [home, 0o700]] as const) {
    await Deno.mkdir(path, { recursive: true });
    if (Deno.build.os !== "windows") await Deno.chmod(path, mode);
  }
}

/** Gives a job's folders to the account that runs it. */
export async function takeOver({ owner }: Sandbox, { checkout, home }: Places): Promise<void> {
  if (owner === null) return;
  const to = `${owner.uid}:${owner.gid}`;
  const { success, error } = await runScript('chown -R -h "$@"', to, checkout, home);
  if (!success) throw new Error(`The checkout cannot be given to its account: ${error}`);
}

/** Removes a folder, whatever a job has made of it. */
export async function removeFolder(folder: string): Promise<void> {
  const { success } = await runScript('rm -rf -- "$1"', folder);
  if (!success) await runScript('chmod -R u+rwX -- "$1"; rm -rf -- "$1"', folder);
}
