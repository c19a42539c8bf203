import type { CodeProject } from "../code_project.ts";

/** How long a page waits for the syntax of its code, in milliseconds. */
const PATIENCE_MS = 25;

/** The query parameter of a script that waits until the syntax is there. */
const WAIT_PARAMETER = "wait";

/** The lines of a file, each as HTML, if they are ready. */
export interface Highlighted {
  /** Null if the lines are shown as plain text. */
  readonly html: readonly string[] | null;
  /** Whether the HTML comes later: the page's script asks for it again. */
  readonly isPending: boolean;
}

/** The lines of a file with their syntax. The first request for long code gets it as plain text. */
export async function highlightFile(
  { visit, access }: CodeProject,
  file: { readonly path: string; readonly lines: readonly string[] },
): Promise<Highlighted> {
  const making = visit.services.hosting.texts.highlight(access.project, file)
    .then((html): Highlighted => ({ html, isPending: false }));
  if (visit.query(WAIT_PARAMETER) !== undefined) return await making;
  const { promise: late, resolve } = Promise.withResolvers<Highlighted>();
  const timer = setTimeout(() => resolve({ html: null, isPending: true }), PATIENCE_MS);
  try {
    return await Promise.race([making, late]);
  } finally {
    clearTimeout(timer);
  }
}
