import type { ProjectAddresses } from "../addresses.ts";

/** What a branch of muster is for: the workspace, or the review that lands. */
export function BranchPurpose({ to, name }: {
  readonly to: ProjectAddresses;
  readonly name: string;
}) {
  const [, kind, rest = ""] = /^(workspace|landing)\/(.+)$/.exec(name) ?? [];
  if (kind === "workspace") {
    return <a href={to.at(`/workspaces/${encodeURIComponent(rest)}`)}>Workspace</a>;
  }
  if (kind === "landing" && /^\d+$/.test(rest)) {
    return <a href={to.at(`/reviews/${rest}`)}>Review {rest}</a>;
  }
  return null;
}
