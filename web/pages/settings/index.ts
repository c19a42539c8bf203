import { definePage } from "../../page.ts";

/** `/settings` leads to its first part. */
export const page = definePage({
  opens: "admin",
  show: (visit) => visit.context.redirect("/settings/tokens", 303),
});
