import { definePage } from "../page.ts";

/** What visiting machines leave alone: pages that cost much, and pages of no use to a search. */
export const page = definePage({
  opens: "anybody",
  show: ({ context, services: { config } }) =>
    context.text(
      [
        "User-agent: *",
        "Disallow: /projects/*/blame/",
        "Disallow: /projects/*/compare/",
        "Disallow: /projects/*/history/",
        "Disallow: /projects/*/search",
        `Disallow: /projects/*/${config.projects.scm}/`,
        "Disallow: /search",
        "Disallow: /v1/",
        "Disallow: /login",
        "Crawl-delay: 2",
        "",
      ].join("\n"),
      200,
      { "Cache-Control": "public, max-age=86400" },
    ),
});
