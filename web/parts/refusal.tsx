import type { Child } from "hono/jsx";

/** What a person sees in place of a page: why, and where to go. */
export function Refusal({ status, message, isGuest, search }: {
  readonly status: number;
  readonly message: string;
  readonly isGuest: boolean;
  /** The search of the project in which it was; null elsewhere. */
  readonly search: Child;
}) {
  return (
    <section class="narrow">
      <p class="soft">{status}</p>
      <h1>{HEADINGS[status] ?? "That did not work"}</h1>
      <p>{message}.</p>
      {search}
      <p class="row">
        <a class="button" href="/">Home</a>
        {isGuest && <a class="button primary" href="/login">Log in</a>}
      </p>
    </section>
  );
}

const HEADINGS: Readonly<Record<number, string>> = {
  403: "You may not see this",
  404: "There is nothing here",
  409: "That does not fit",
  413: "That is too large",
  429: "Too many requests",
  500: "Something broke",
  503: "Not now",
};

/** What an admin without a role in a project sees in its place. */
export function ClosedProject({ slug }: { readonly slug: string }) {
  return (
    <section class="narrow">
      <p class="soft">404</p>
      <h1>You are not a member of {slug}</h1>
      <p>
        An admin sees a private project as its members do, once the admin is one of them. The event
        log notes that.
      </p>
      <p class="row">
        <a class="button primary" href={`/projects/${slug}/settings/members`}>Members</a>
        <a class="button" href="/projects">Projects</a>
      </p>
    </section>
  );
}
