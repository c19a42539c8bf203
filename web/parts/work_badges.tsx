import type { ProjectAddresses } from "../addresses.ts";

const LOOKS: Readonly<Record<string, string>> = {
  active: "accent",
  merged: "good",
  landed: "good",
  approved: "good",
  pending: "accent",
  queued: "accent",
  testing: "warn",
  changes_requested: "warn",
  returned: "bad",
  abandoned: "",
  closed: "",
};

/** The status of a workspace, a review or a landing. */
export function WorkStatus({ status }: { readonly status: string }) {
  return <span class={`badge ${LOOKS[status] ?? ""}`}>{status.replaceAll("_", " ")}</span>;
}

/** How a workspace overlaps with others. */
export function OverlapBadge({ overlaps }: {
  readonly overlaps: readonly { readonly conflicts: readonly unknown[] | null }[];
}) {
  const conflicts = overlaps.filter((overlap) => (overlap.conflicts?.length ?? 0) > 0).length;
  if (conflicts > 0) {
    return (
      <span class="badge bad">
        conflicts with {conflicts} {conflicts === 1 ? "workspace" : "workspaces"}
      </span>
    );
  }
  return (
    <span class="badge warn">
      overlaps with {overlaps.length} {overlaps.length === 1 ? "workspace" : "workspaces"}
    </span>
  );
}

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
