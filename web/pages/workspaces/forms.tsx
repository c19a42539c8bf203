import { ButtonForm, Form, knownNames, TextArea, TextField } from "../../parts/form.tsx";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import type { z } from "zod";
import type { reviewListSchema } from "../../../services/work/reviews/schemas.ts";
import type { detailedSchema } from "../../../services/work/workspaces/schemas.ts";

export type Workspace = z.output<typeof detailedSchema>;
export type Reviews = z.output<typeof reviewListSchema>["reviews"];

const CLOSED: ReadonlySet<string> = new Set(["merged", "closed"]);

/** What the visitor may do with a workspace. */
export function WorkspaceForms({ visit, project, workspace, reviews }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly workspace: Workspace;
  readonly reviews: Reviews;
}) {
  const isOwn = workspace.agent_id === visit.principal.name || project.mayAdmin;
  const isReviewed = reviews.some(({ status }) => !CLOSED.has(status));
  if (workspace.status === "merged") return null;
  if (workspace.status === "abandoned") {
    return isOwn
      ? <ButtonForm visit={visit} action="restore" label="Open it again" look="primary" />
      : null;
  }
  const entered = visit.form.get("action");
  return (
    <>
      {!isReviewed && workspace.commits_made > 0 && (
        <ReviewForm
          visit={visit}
          workspace={workspace}
          isOpen={entered === "review" || visit.query("then") === "review"}
        />
      )}
      {isOwn && <UpdateForm visit={visit} isOpen={entered === "update"} />}
      <MergeForm visit={visit} workspace={workspace} isOpen={entered === "merge"} />
      {isOwn && (
        <details class="card more">
          <summary>Abandon</summary>
          <p>The branch is closed without a merge. Nothing is erased: it can be restored.</p>
          <ButtonForm visit={visit} action="abandon" label="Abandon it" look="danger" />
        </details>
      )}
      {!isOwn && workspace.ticket !== null && (
        <details class="card more">
          <summary>Take over</summary>
          <p>The holder of the ticket's claim may continue the workspace.</p>
          <ButtonForm visit={visit} action="takeover" label="Take it over" />
        </details>
      )}
    </>
  );
}

function ReviewForm({ visit, workspace, isOpen }: {
  readonly visit: Visit;
  readonly workspace: Workspace;
  readonly isOpen: boolean;
}) {
  return (
    <details class="card more" open={isOpen}>
      <summary>Open a review</summary>
      <Form visit={visit} action="review" label="Open a review">
        {workspace.ticket !== null && (
          <input type="hidden" name="ticket_uuid" value={workspace.ticket} />
        )}
        <TextField
          visit={visit}
          name="title"
          label="Title"
          required
          maxlength={300}
          value={workspace.description}
        />
        <TextArea visit={visit} name="description" label="Description" rows={4} />
        <TextField
          visit={visit}
          name="reviewers"
          label="Reviewers"
          hint="Names, separated by commas."
          names={knownNames.accounts(visit)}
          isList
        />
        <button class="primary" type="submit">Open the review</button>
      </Form>
    </details>
  );
}

function UpdateForm({ visit, isOpen }: { readonly visit: Visit; readonly isOpen: boolean }) {
  return (
    <details class="card more" open={isOpen}>
      <summary>Update from another branch</summary>
      <Form visit={visit} action="update" label="Update">
        <TextField
          visit={visit}
          name="source"
          label="Branch"
          hint="The main branch, if you leave it empty."
          maxlength={200}
        />
        <button type="submit">Merge it into the workspace</button>
      </Form>
    </details>
  );
}

function MergeForm({ visit, workspace, isOpen }: {
  readonly visit: Visit;
  readonly workspace: Workspace;
  readonly isOpen: boolean;
}) {
  return (
    <details class="card more" open={isOpen}>
      <summary>Merge</summary>
      <Form visit={visit} action="merge" label="Merge">
        <input type="hidden" name="tip" value={workspace.tip} />
        <TextField
          visit={visit}
          name="target_branch"
          label="Into branch"
          hint="The main branch, if you leave it empty."
          maxlength={200}
        />
        <TextField visit={visit} name="message" label="Message (optional)" />
        <button class="primary" type="submit">Merge and close it</button>
      </Form>
    </details>
  );
}
