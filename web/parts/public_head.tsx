import type { CodeProject } from "../code_project.ts";

/** Most characters of a description in the head. */
const MAX_DESCRIPTION = 300;

/**
 * Elements for the head of a project's page: its feed, and for a public project what other sites
 * show of a link to it (Open Graph). A private project says nothing of itself.
 */
export function PublicHead({ project, title }: {
  readonly project: CodeProject;
  /** What the page is about; by default, the project. */
  readonly title?: string;
}) {
  const { view, to, visit } = project;
  const feed = (
    <link
      rel="alternate"
      type="application/atom+xml"
      title={`Check-ins of ${view.name}`}
      href={to.at("/timeline.atom")}
    />
  );
  if (!project.isPublic) return feed;
  const description = (view.description || `The project ${view.name}`).slice(0, MAX_DESCRIPTION);
  return (
    <>
      {feed}
      <meta name="description" content={description} />
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content="muster" />
      <meta property="og:title" content={title ?? view.name} />
      <meta property="og:description" content={description} />
      <meta property="og:url" content={visit.origin + visit.url.pathname} />
    </>
  );
}
