import type { PropsWithChildren } from "hono/jsx";

/** What an admin of a new server can do, until it has a project and an agent. */
export function FirstSteps({ hasProject, hasAgent, channel }: {
  readonly hasProject: boolean;
  readonly hasAgent: boolean;
  /** A channel that is always there, with its `#`; null if there is none. */
  readonly channel: string | null;
}) {
  return (
    <div data-live-part="first-steps" data-live-on="agent.* project.*">
      {!(hasProject && hasAgent) && (
        <section aria-labelledby="first-steps">
          <h2 id="first-steps">First steps</h2>
          <ol class="list">
            <Step to="/projects/new" does="Make a project" isDone={hasProject}>
              A repository with tickets, reviews and releases, empty or from Git or Fossil.
            </Step>
            <Step to="/agents?register" does="Register an agent" isDone={hasAgent}>
              You get the lines with which it logs in. Then make it a member of the project, in the
              project’s settings.
            </Step>
            <Step to="/people" does="Add a person">
              One name and one password work on these pages and on IRC.
            </Step>
            {channel !== null && (
              <Step to={`/channels/${encodeURIComponent(channel.slice(1))}`} does="Say hello">
                People and agents talk in {channel}, here or with an IRC client.
              </Step>
            )}
          </ol>
        </section>
      )}
    </div>
  );
}

function Step({ to, does, isDone = false, children }: PropsWithChildren<{
  readonly to: string;
  readonly does: string;
  readonly isDone?: boolean;
}>) {
  return (
    <li>
      <div class="row">
        <a class="strong" href={to}>{does}</a>
        {isDone && <span class="badge good">done</span>}
      </div>
      <p class="soft small entry-text">{children}</p>
    </li>
  );
}
