/** What keeps the checks that a runner runs apart from this machine. */
import { resolve } from "node:path";
import {
  accountOfJobs,
  findBwrap,
  findContainers,
  findPlain,
  type Missing,
  type Sandbox,
} from "../runner/executor/mod.ts";

/** Containers are for checks that name an image. */
export const KINDS = ["bwrap", "podman", "docker", "none"] as const;

export type Kind = (typeof KINDS)[number];

/** The ways that keep checks apart, strongest for those that name no image first. */
export const APART = ["bwrap", "podman", "docker"] as const satisfies readonly Kind[];

/** What of some ways works on this machine, and what does not. */
export interface FoundIsolation {
  readonly there: readonly Sandbox[];
  readonly missing: readonly Missing[];
}

/** @param share folders that a check may read, beside those of the system */
export async function findIsolation(
  kinds: readonly Kind[],
  share: readonly string[] = [],
): Promise<FoundIsolation> {
  const found = await Promise.all(kinds.map((kind) => findSandbox(kind, share)));
  return {
    there: found.flatMap((one) => "why" in one ? [] : [one]),
    missing: found.flatMap((one) => "why" in one ? [one] : []),
  };
}

async function findSandbox(kind: Kind, share: readonly string[]): Promise<Sandbox | Missing> {
  const account = accountOfJobs();
  if (kind === "bwrap") {
    return await findBwrap({ account, shared: share.map((path) => resolve(path)) });
  }
  if (kind === "none") return await findPlain(account);
  return await findContainers({ engine: kind, account });
}
